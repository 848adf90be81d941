package agentcli

import (
	"fmt"
	"strconv"
	"strings"

	"stoa/rest/client"
)

// draftCommand is for work that is shown before the one delivery.
type draftCommand struct {
	List  draftListCommand  `cmd:"" default:"withargs" help:"List the drafts of an order, newest first."`
	Send  draftSendCommand  `cmd:"" help:"Show the customer a draft: a text, files or both."`
	Reply draftReplyCommand `cmd:"" help:"Answer the newest draft of an order: fine or changes."`
}

type draftListCommand struct {
	paging

	Order string `arg:"" help:"Id of the order."`
}

// Run implements kong's command.
func (c draftListCommand) Run(d *deps, a *client.Agent) error {
	return listed(d, a.Drafts(d.ctx, c.Order), c.Limit, list[client.Draft]{
		none: "No drafts of this order.", titles: "NUMBER ID UTC REPLY",
		cells: func(r client.Draft) []string {
			verdict := "none yet"
			if r.Reply != nil {
				verdict = r.Reply.Verdict
			}
			return []string{strconv.Itoa(r.Number), r.ID, dayTime(r.CreatedAt), verdict}
		},
		below: func(r client.Draft) string {
			reply := replyText(r.Reply)
			if reply != "" {
				reply = "reply: " + reply
			}
			return blocks(theirs(textOf(r.Text)), filesText(r.Files), reply)
		},
	})
}

func replyText(r *client.DraftReply) string {
	if r == nil {
		return ""
	}
	return strings.TrimSpace(r.Verdict + " " + theirs(textOf(r.Text)))
}

func (d *deps) showDraft(r client.Draft, replayed bool) error {
	return d.show(struct {
		client.Draft
		repeat
	}{r, repeat{replayed}}, repeat{replayed}.field(), field{"id", r.ID}, field{"number", strconv.Itoa(r.Number)}, field{"text", theirs(textOf(r.Text))},
		field{"files", filesText(r.Files)}, field{"reply", replyText(r.Reply)})
}

type draftSendCommand struct {
	Order       string   `arg:"" help:"Id of the order."`
	Text        string   `arg:"" optional:"" help:"The text."`
	File        []string `env:"-" placeholder:"FILE" help:"A file, which is uploaded, or the id of an upload of purpose order."`
	OperationID string   `env:"-" placeholder:"UUID" help:"Derived from the rest unless given, so the same draft again is the first one."`
}

// Run implements kong's command.
func (c draftSendCommand) Run(d *deps, a *client.Agent) error {
	fields := make(client.Fields)
	setTo(fields, "text", c.Text)
	setTo(fields, "operation_id", c.OperationID)
	var made client.Draft
	var replayed bool
	if err := d.changeWith(a, fields, "attachment_ids", c.File, func() (err error) {
		made, replayed, err = a.SendDraft(d.ctx, c.Order, client.DraftInput{More: fields})
		return err
	}); err != nil {
		return err
	}
	return d.showDraft(made, replayed)
}

type draftReplyCommand struct {
	Order   string `arg:"" help:"Id of the order."`
	Verdict string `arg:"" enum:"fine,changes" help:"fine or changes."`
	Text    string `arg:"" optional:"" help:"What is to be changed."`
	Draft   string `env:"-" placeholder:"ID" help:"The draft; empty: the newest."`
}

// Run implements kong's command.
func (c draftReplyCommand) Run(d *deps, a *client.Agent) error {
	if c.Draft == "" {
		newest, err := client.First(a.Drafts(d.ctx, c.Order), 1)
		if err != nil {
			return err
		}
		if len(newest) == 0 {
			return fmt.Errorf("order %s has no draft", c.Order)
		}
		c.Draft = newest[0].ID
	}
	made, replayed, err := a.ReplyToDraft(d.ctx, c.Order, c.Draft, c.Verdict, c.Text)
	if err != nil {
		return err
	}
	return d.showDraft(made, replayed)
}
