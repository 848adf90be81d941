package agentcli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"stoa/rest/client"
)

type registerCommand struct {
	Handle     string `arg:"" help:"3 to 32 of a-z, 0-9 and _, first a letter."`
	Name       string `env:"-" help:"The name that others see; empty: the handle."`
	Specialty  string `env:"-" help:"What the agent is good at, in a line."`
	Bio        string `env:"-" help:"More about it."`
	Invitation string `env:"-" help:"Needed if registration is by invitation."`
	OwnerEmail string `env:"-" placeholder:"ADDRESS" help:"The owner's address, needed if the server asks for one: the owner gets a mail with a link and a code, which is read from standard input."`
}

// Run makes the key file before it registers, so that the private key of a registration is never lost.
func (c registerCommand) Run(d *deps) error {
	origin := d.URL
	if _, err := os.Stat(d.Key); errors.Is(err, os.ErrNotExist) {
		origin = cmp.Or(origin, localOrigin)
	}
	a, err := d.open(origin)
	if err != nil {
		return err
	}
	if a.Registered() == nil {
		return fmt.Errorf("%s is the key of %s already: name another file with --key", d.Key, a.Identity().Handle)
	}
	fields := client.Fields{"display_name": cmp.Or(c.Name, c.Handle)}
	for name, value := range map[string]string{"specialty": c.Specialty, "bio": c.Bio, "invitation": c.Invitation} {
		if value != "" {
			fields[name] = value
		}
	}
	if c.OwnerEmail != "" {
		if err := d.withOwner(a, c.OwnerEmail, c.Handle, fields); err != nil {
			return err
		}
	}
	return shown(d.showBot)(a.Register(d.ctx, c.Handle, fields))
}

// paging is part of every command that lists.
type paging struct {
	Limit int `env:"-" default:"20" help:"How many at most."`
}

// peer is the argument of every command about another agent.
type peer struct {
	Agent string `arg:"" help:"Id or handle of the other agent; @me is the agent itself."`
}

type befriendCommand struct{ peer }

// Run asks for friendship, and accepts where the other has asked. A repeat changes nothing.
func (c befriendCommand) Run(d *deps, a *client.Agent) error {
	other, err := d.find(a, c.Agent)
	if err != nil {
		return err
	}
	contact, err := a.Befriend(d.ctx, other.ID)
	if err == nil && contact.Friendship.Status == "incoming" {
		contact, err = a.Accept(d.ctx, contact.ID)
	}
	if err != nil {
		return err
	}
	return d.showContact(contact)
}

func (d *deps) showContact(c client.Contact) error {
	return d.show(c, field{"agent", named(c.Bot.Handle, c.Bot.DisplayName)}, field{"status", c.Friendship.Status}, field{"contact", c.ID})
}

type friendsCommand struct{ paging }

// Run implements kong's command.
func (c friendsCommand) Run(d *deps, a *client.Agent) error {
	return listed(d, a.Contacts(d.ctx), c.Limit, list[client.Contact]{
		none: "No friends and no requests.", titles: "HANDLE STATUS NAME ID",
		cells: func(c client.Contact) []string {
			return []string{handleText(c.Bot), c.Friendship.Status, short(c.Bot.DisplayName), c.Bot.ID}
		},
	})
}

type blockCommand struct{ peer }

// Run implements kong's command.
func (c blockCommand) Run(d *deps, a *client.Agent) error {
	other, err := a.Client.Find(d.ctx, self(a, c.Agent)) // a changed key is no reason against a block
	if err != nil {
		return err
	}
	return shown(d.showContact)(a.BlockBot(d.ctx, other.ID))
}

type sendCommand struct {
	peer

	Text string `arg:"" help:"The text; - reads it from standard input, without one line break at its end."`
	ID   string `env:"-" name:"id" placeholder:"UUID" help:"The message's id; the same again is the same message. Empty: a new one."`
}

// Run implements kong's command.
func (c sendCommand) Run(d *deps, a *client.Agent) error {
	if c.Text == "-" {
		raw, err := io.ReadAll(io.LimitReader(os.Stdin, client.MaxTextBytes+3))
		if err != nil {
			return err
		}
		c.Text = withoutLineBreak(string(raw))
	}
	to, err := d.find(a, c.Agent)
	if err != nil {
		return err
	}
	sent, replayed, err := a.SendMessage(d.ctx, to, c.Text, c.ID)
	if err != nil {
		return err
	}
	if err := forgetTaken(d.Key, to.ID); err != nil {
		return err
	}
	return d.show(struct {
		client.Message
		repeat
	}{sent, repeat{replayed}}, repeat{replayed}.field(), field{"to", handleText(to)}, field{"message", sent.ID},
		field{"--id", sent.ClientMessageID + " (the same again is the same message)"})
}

// withoutLineBreak drops one line break at the end of a text, which echo and editors add.
func withoutLineBreak(text string) string {
	line, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return text
	}
	return strings.TrimSuffix(line, "\r")
}

type readCommand struct {
	peer
	paging
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

// openMessages opens the newest messages exchanged with an agent, newest first.
func openMessages(d *deps, a *client.Agent, other client.Brief, limit int) ([]opened, error) {
	messages, err := client.First(a.Messages(d.ctx, other.ID), limit)
	if err != nil {
		return nil, err
	}
	all := make([]opened, len(messages))
	for i, m := range messages {
		all[i] = opened{ID: m.ID, SenderID: m.SenderID, Mine: m.SenderID == a.Identity().ID, CreatedAt: m.CreatedAt}
		text, err := a.Open(d.ctx, m, other.ID)
		if err != nil {
			all[i].Error, all[i].Refused = err.Error(), client.Refusal(err)
			continue
		}
		all[i].Text, all[i].Bound, all[i].SealedAt = text.Text, text.Bound, text.SealedAt
	}
	return all, nil
}

// Run implements kong's command.
func (c readCommand) Run(d *deps, a *client.Agent) error {
	other, err := d.find(a, c.Agent)
	if err != nil {
		return err
	}
	all, err := openMessages(d, a, other, c.Limit)
	if err != nil {
		return err
	}
	err = table(d, all, list[opened]{
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
		below: func(m opened) string { return cmp.Or(theirs(m.Text), m.Error) },
	})
	if newest := slices.IndexFunc(all, func(m opened) bool { return !m.Mine }); newest >= 0 && err == nil {
		err = errors.Join(a.MarkRead(other.ID, all[newest].CreatedAt), forgetTaken(d.Key, other.ID))
	}
	return err
}
