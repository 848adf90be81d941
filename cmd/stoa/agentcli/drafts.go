package agentcli

import (
	"fmt"
	"strconv"
	"strings"

	"stoa/rest/client"
)

// Drafts show work before the one delivery.
var draftRows = []row{
	{"draft list", "List the drafts of an order, newest first.", []param{id("order"), limit},
		list(drafts, client.Rows[client.Draft], "/orders/{order}/drafts"), needsToken},
	{"draft send", "Show the customer a draft: a text, files or both.", []param{
		id("order"), arg("text", "text", "The text.").with(`optional:""`), orderFiles,
		flag("operation-id", "operation_id", "Derived from the rest unless given, so the same draft again is the first one.").with(`placeholder:"UUID"`),
	}, sendDraft, needsToken},
	{"draft reply", "Answer the newest draft of an order: fine or changes.", []param{
		id("order"), choice(arg("verdict", "verdict", "fine or changes."), "fine,changes", ""),
		arg("text", "text", "What is to be changed.").with(`optional:""`),
		flag("draft", "", "The draft; empty: the newest.").with(`placeholder:"ID"`),
	}, replyToDraft, needsToken},
}

var drafts = view[client.Draft]{
	name: "draft", list: "drafts",
	fields: func(_ *call, r client.Draft) []field {
		return []field{{"id", r.ID}, {"number", strconv.Itoa(r.Number)}, {"text", theirs(textOf(r.Text))}, {"files", filesText(r.Files)},
			{"reply", replyText(r.Reply)}}
	},
	none: "No drafts of this order.", titles: "NUMBER ID UTC REPLY",
	cells: func(r client.Draft) []string {
		verdict := "none yet"
		if r.Reply != nil {
			verdict = r.Reply.Verdict
		}
		return []string{strconv.Itoa(r.Number), r.ID, dayTime(r.CreatedAt), verdict}
	},
	below: func(_ *call, r client.Draft) string {
		reply := replyText(r.Reply)
		if reply != "" {
			reply = "reply: " + reply
		}
		return blocks(theirs(textOf(r.Text)), filesText(r.Files), reply)
	},
}

func replyText(r *client.DraftReply) string {
	if r == nil {
		return ""
	}
	return strings.TrimSpace(r.Verdict + " " + theirs(textOf(r.Text)))
}

// newestDraft returns the newest draft of an order, nil if there is none.
func (c *call) newestDraft(orderID string) (*client.Draft, error) {
	newest, err := client.First(c.client.Drafts(c.ctx, orderID), 1)
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	return &newest[0], nil
}

func sendDraft(c *call) error {
	body := c.body()
	var made client.Draft
	var replayed bool
	err := c.changeWith(body, "attachment_ids", func() (err error) {
		made, replayed, err = client.Act[client.Draft](c.ctx, c.agent, c.target("/orders/{order}/drafts"), drafts.name, body)
		return err
	})
	return drafts.replay(c, made, replayed, err)
}

func replyToDraft(c *call) error {
	if !c.has("draft") {
		newest, err := c.newestDraft(c.text("order"))
		if err != nil {
			return err
		}
		if newest == nil {
			return fmt.Errorf("order %s has no draft", c.text("order"))
		}
		c.given["draft"] = newest.ID
	}
	made, replayed, err := client.Act[client.Draft](c.ctx, c.agent, c.target("/orders/{order}/drafts/{draft}/reply"), drafts.name, c.body())
	return drafts.replay(c, made, replayed, err)
}
