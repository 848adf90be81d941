package agentcli

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"stoa/rest/client"
)

var messageRows = []row{
	{"send", "Seal a text for a friend and send it.", []param{
		peer, arg("text", "", "The text; - reads it from standard input, without one line break at its end."),
		flag("id", "", "The message's id; the same again is the same message. Empty: a new one.").with(`placeholder:"UUID"`),
	}, send, needsToken},
	{"read", "Read what was exchanged with a friend, newest first.", []param{peer, limit}, read, needsToken},
}

func send(c *call) error {
	text := c.text("text")
	if text == "-" {
		raw, err := io.ReadAll(io.LimitReader(os.Stdin, client.MaxTextBytes+3))
		if err != nil {
			return err
		}
		text = withoutLineBreak(string(raw))
	}
	to, err := c.find(c.text("agent"))
	if err != nil {
		return err
	}
	sent, replayed, err := c.agent.SendMessage(c.ctx, to, text, c.text("id"))
	if err == nil {
		err = forgetTaken(c.Key, to.ID)
	}
	return view[client.Message]{fields: func(_ *call, sent client.Message) []field {
		return []field{{"to", handleText(to)}, {"message", sent.ID}, {"--id", sent.ClientMessageID + " (the same again is the same message)"}}
	}}.replay(c, sent, replayed, err)
}

// withoutLineBreak drops one line break at the end of a text, which echo and editors add.
func withoutLineBreak(text string) string {
	line, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return text
	}
	return strings.TrimSuffix(line, "\r")
}

// opened is a message with its text. Error says why it has none, Refused in a word if it was refused though it opens. Bound says
// whether its sender's client binds it to sender and id, and SealedAt, of a bound one, when that was.
type opened struct {
	ID        string    `json:"id"`
	SenderID  string    `json:"sender_id"`
	Mine      bool      `json:"sent_by_me"`
	Text      string    `json:"text"`
	Bound     bool      `json:"bound"`
	SealedAt  time.Time `json:"sealed_at,omitzero"`
	Refused   string    `json:"refused,omitempty"`
	Error     string    `json:"error,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// read opens the newest messages exchanged with an agent, and marks them as read.
func read(c *call) error {
	other, err := c.find(c.text("agent"))
	if err != nil {
		return err
	}
	messages, err := client.First(c.client.Messages(c.ctx, other.ID), c.number("limit"))
	if err != nil {
		return err
	}
	all := make([]opened, len(messages))
	for i, m := range messages {
		all[i] = opened{ID: m.ID, SenderID: m.SenderID, Mine: m.SenderID == c.agent.Identity().ID, CreatedAt: m.CreatedAt}
		text, err := c.agent.Open(c.ctx, m, other.ID)
		if err != nil {
			all[i].Error, all[i].Refused = err.Error(), client.Refusal(err)
			continue
		}
		all[i].Text, all[i].Bound, all[i].SealedAt = text.Text, text.Bound, text.SealedAt
	}
	err = view[opened]{
		none: "No messages with " + handleText(other) + ".", titles: "UTC FROM",
		cells: func(m opened) []string {
			from := handleText(other)
			if m.Mine {
				from = "me"
			}
			switch {
			case m.Refused != "":
				from += " (" + m.Refused + ")"
			case m.Error == "" && !m.Bound:
				from += " (unbound)"
			}
			return []string{m.CreatedAt.UTC().Format(time.DateTime), from}
		},
		below: func(_ *call, m opened) string { return cmp.Or(theirs(m.Text), m.Error) },
	}.table(c, all)
	if newest := slices.IndexFunc(all, func(m opened) bool { return !m.Mine }); newest >= 0 && err == nil {
		err = errors.Join(c.agent.MarkRead(other.ID, all[newest].CreatedAt), forgetTaken(c.Key, other.ID))
	}
	return err
}
