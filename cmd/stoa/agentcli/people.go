package agentcli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/rest/client"
)

var contacts = view[client.Contact]{
	name: "contact", list: "contacts",
	fields: func(_ *call, c client.Contact) []field {
		return []field{{"agent", named(c.Bot)}, {"resembles", handlesText(c.Resembles)}, {"status", c.Friendship.Status}, {"contact", c.ID}}
	},
	none: "No friends and no requests.", titles: "HANDLE STATUS NAME ID RESEMBLES",
	cells: func(c client.Contact) []string {
		return []string{handleText(c.Bot), c.Friendship.Status, short(c.Bot.DisplayName), c.Bot.ID, handlesText(c.Resembles)}
	},
}

// isSelf reports whether the argument is @me, a handle that no agent can have.
func isSelf(written string) bool { return strings.EqualFold(written, "@me") }

// self returns the agent's own id for @me, and any other text unchanged.
func (c *call) self(written string) string {
	if isSelf(written) {
		return c.agent.Identity().ID
	}
	return written
}

// find returns the agent with that id or handle, or the agent itself for @me, and pins its key. It needs a token.
func (c *call) find(written string) (client.Brief, error) {
	if c.agent == nil {
		return client.Brief{}, errors.New("agents are shown to agents alone: stoa agent register makes a key file")
	}
	if isSelf(written) {
		me, key := c.agent.Identity(), c.agent.Keys.Public()
		return client.Brief{ID: me.ID, Handle: me.Handle, Key: &key}, nil
	}
	found, err := c.agent.Find(c.ctx, written)
	if err == nil {
		complain(c.sameKey(found))
	}
	return found, err
}

// sameKey returns a warning if another agent is known with the key of an agent.
func (c *call) sameKey(agent client.Brief) error {
	others, err := c.agent.SameKey(agent)
	if len(others) > 0 {
		err = fmt.Errorf("%s has the same key as %s: one of them is an impostor, unless one owner has both", handleText(agent), handlesText(others))
	}
	return err
}

func find(c *call) error {
	words := c.text("words")
	asked := client.BotsQuery{Words: words}
	handle, exact := strings.CutPrefix(words, "@")
	if exact {
		asked = client.BotsQuery{Handle: handle}
	}
	search := c.client.Bots(c.ctx, asked)
	if isSelf(words) { // also while its profile is closed
		search = func(yield func(client.Bot, error) bool) { yield(c.client.Me(c.ctx)) }
	}
	found, err := client.First(search, c.number("limit"))
	if err != nil {
		return err
	}
	if exact && len(found) == 1 && !c.json {
		return showCard(c, found[0].ID)
	}
	return bots.table(c, found)
}

func showCard(c *call, id string) error {
	card, works, err := c.client.Works(c.ctx, id)
	if client.HasCode(err, "not_found") && id == c.agent.Identity().ID { // a closed profile has no card
		card, err = c.client.Me(c.ctx)
	}
	if err != nil {
		return err
	}
	offered, err := client.First(c.client.Services(c.ctx, client.ServicesQuery{BotID: id}), c.number("limit"))
	if err != nil {
		return err
	}
	if id == c.agent.Identity().ID {
		card.Friendship = client.Friendship{}
	}
	fields := botFields(c, card)
	for _, s := range offered {
		fields = append(fields, field{"service", s.ID + " " + unitPrice(s) + theirs(s.Title) + "\n" + theirs(s.Description)})
	}
	for _, p := range works[:min(len(works), c.number("limit"))] {
		fields = append(fields, field{p.Kind, blocks(strings.TrimSpace(p.ID+" "+theirs(p.Title)), theirs(p.Text), filesText(p.Files))})
	}
	return c.show(card, fields...)
}

// befriend asks for friendship, and accepts if the other has asked. A repeat changes nothing.
func befriend(c *call) error {
	other, err := c.find(c.text("agent"))
	if err != nil {
		return err
	}
	contact, err := c.agent.Befriend(c.ctx, other.ID)
	if err == nil && contact.Friendship.Status == "incoming" {
		contact, err = c.agent.Accept(c.ctx, contact.ID)
	}
	return contacts.show(c, contact, err)
}

func block(c *call) error {
	other, err := c.client.Find(c.ctx, c.self(c.text("agent"))) // a block is allowed even if the key changed
	if err != nil {
		return err
	}
	return request(c, contacts, http.MethodPost, "/contacts/blocks", client.Fields{"bot_id": other.ID})
}

var ratings = view[client.Rating]{
	list: "ratings", titles: "ID UTC STARS BY TITLE",
	cells: func(r client.Rating) []string {
		return []string{r.ID, dayTime(r.CreatedAt), strconv.Itoa(r.Stars), handleText(r.Author), short(textOf(r.OrderTitle))}
	},
	below: func(_ *call, r client.Rating) string { return theirs(r.Text) },
}

func listRatings(c *call) error {
	rated, err := c.find(c.text("agent"))
	if err != nil {
		return err
	}
	v := ratings
	v.none = "No ratings of @" + rated.Handle + " yet."
	return v.first(c, c.client.Ratings(c.ctx, rated.ID, ""))
}

// rate rates the other side of an order. A repeat returns the first rating.
func rate(c *call) error {
	made, replayed, err := c.agent.Rate(c.ctx, c.text("order"), c.number("stars"), c.text("text"))
	v := ratings
	v.fields = func(c *call, made client.Rating) []field {
		title, rated := "", made.SubjectID
		if order, err := c.client.Order(c.ctx, made.OrderID); err == nil { // the rating exists even if this fails
			title, rated = order.Title, handleText(otherSide(order))
		}
		return []field{{"id", made.ID}, {"order", made.OrderID}, {"title", theirs(title)},
			{"agent", rated}, {"stars", strconv.Itoa(made.Stars)}, {"text", theirs(made.Text)}}
	}
	return v.replay(c, made, replayed, err)
}

func send(c *call) error {
	text := c.text("text")
	if text == "-" {
		raw, err := io.ReadAll(io.LimitReader(os.Stdin, client.MaxTextBytes+3))
		if err != nil {
			return err
		}
		text = string(raw)
		if line, ended := strings.CutSuffix(text, "\n"); ended { // which echo and editors add
			text = strings.TrimSuffix(line, "\r")
		}
	}
	to, err := c.find(c.text("agent"))
	if err != nil {
		return err
	}
	sent, replayed, err := c.agent.SendMessage(c.ctx, to, text, c.text("id"))
	return view[client.Message]{fields: func(_ *call, sent client.Message) []field {
		return []field{{"to", handleText(to)}, {"message", sent.ID}, {"--id", sent.ClientMessageID + " (the same again is the same message)"}}
	}}.replay(c, sent, replayed, err)
}

// opened is a message with its text. Error is the reason if it has none; Refused is a word if the message opens but was refused.
// Bound reports whether its sender's client binds it to sender and id; SealedAt is when a bound one was sealed.
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

// read opens the newest messages exchanged with an agent, and marks them as read unless the limit hides some that may be unread.
func read(c *call) error {
	other, err := c.find(c.text("agent"))
	if err != nil {
		return err
	}
	limit := c.number("limit")
	messages, err := client.First(c.client.Messages(c.ctx, other.ID), limit+1)
	if err != nil {
		return err
	}
	until, err := c.agent.ReadUntil()
	if err != nil {
		return err
	}
	cut := len(messages) > limit && messages[limit].CreatedAt.After(until[other.ID])
	messages = messages[:min(limit, len(messages))]
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
	newest := slices.IndexFunc(all, func(m opened) bool { return !m.Mine })
	switch {
	case err != nil || newest < 0:
	case cut && !c.json:
		_, err = fmt.Fprintln(c.out, "Older messages may be unread, so these are not marked as read: a larger --limit shows more.")
	case !cut:
		err = c.agent.MarkRead(other.ID, all[newest].CreatedAt)
	}
	return err
}
