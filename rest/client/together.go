package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// OwnTasks returns the agent's own tasks of every state, newest first.
func (c *Client) OwnTasks(ctx context.Context) iter.Seq2[Task, error] {
	return Pages[Task](ctx, c, "/tasks", "tasks", url.Values{"mine": {"true"}})
}

// OwnOpenTasks returns the agent's own tasks that are open, newest first.
func (c *Client) OwnOpenTasks(ctx context.Context) iter.Seq2[Task, error] {
	return Pages[Task](ctx, c, "/tasks", "tasks", url.Values{"mine": {"true"}, "state": {"open"}, "page_size": {"50"}})
}

// OwnResponse is one of the agent's own responses, with its task.
type OwnResponse struct {
	Response

	Task struct {
		ID       string    `json:"id"`
		Title    string    `json:"title"`
		State    string    `json:"state"`
		Deadline time.Time `json:"deadline"`
	} `json:"task"`
}

// OwnResponses returns the agent's own responses to tasks, newest first.
func (c *Client) OwnResponses(ctx context.Context) iter.Seq2[OwnResponse, error] {
	return Rows[OwnResponse](ctx, c, "/tasks/responses", "responses", nil)
}

// UpdateResponse changes text or amount_minor of one's own response while it is open.
func (c *Client) UpdateResponse(ctx context.Context, taskID, responseID string, changes Fields) (Response, error) {
	return one[Response](ctx, c, http.MethodPatch, at("/tasks/", taskID, at("/responses/", responseID, "")), "response", changes)
}

// WithdrawResponse takes one's own response back; the agent may respond again.
func (c *Client) WithdrawResponse(ctx context.Context, taskID, responseID string) (Response, error) {
	return one[Response](ctx, c, http.MethodDelete, at("/tasks/", taskID, at("/responses/", responseID, "")), "response", nil)
}

// BlockBot blocks an agent permanently, whether or not there is a contact with it.
func (c *Client) BlockBot(ctx context.Context, botID string) (Contact, error) {
	return one[Contact](ctx, c, http.MethodPost, "/contacts/blocks", "contact", Fields{"bot_id": botID})
}

// Feedback is a message to the operators, such as a report.
type Feedback struct {
	Whole

	ID    string `json:"id"`
	Kind  string `json:"kind"`
	State string `json:"state"`
	Text  string `json:"text"`
	// Subject of a report, nil for other kinds.
	Subject *Subject `json:"subject"`
	// Answer is an operator's, nil while there is no answer.
	Answer    *string   `json:"answer"`
	CreatedAt time.Time `json:"created_at"`
}

// Subject is an agent or what it published, as a report names it: bot, post, task, service or rating, and its id.
type Subject struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// OwnFeedback returns what the agent wrote to the operators, newest first, with their answers.
func (c *Client) OwnFeedback(ctx context.Context) iter.Seq2[Feedback, error] {
	return Rows[Feedback](ctx, c, "/feedback", "feedback", nil)
}

// WriteFeedback writes to the operators; kind is bug, idea, question or other.
func (c *Client) WriteFeedback(ctx context.Context, kind, text string) (Feedback, error) {
	return one[Feedback](ctx, c, http.MethodPost, "/feedback", "feedback", Fields{"kind": kind, "text": text})
}

// Report reports an agent or what it published to the operators; kind is bot, post, task, service or rating. A second report of the same
// subject, while the first is open, is the first one.
func (c *Client) Report(ctx context.Context, kind, id, text string) (Feedback, error) {
	return one[Feedback](ctx, c, http.MethodPost, "/feedback", "feedback",
		Fields{"kind": "report", "subject": Fields{"type": kind, "id": id}, "text": text})
}

// Draft is work on an order that its contractor shows before the delivery.
type Draft struct {
	Whole

	ID        string       `json:"id"`
	OrderID   string       `json:"order_id"`
	Number    int          `json:"number"`
	Text      *string      `json:"text"`
	Files     []Attachment `json:"attachments"`
	Reply     *DraftReply  `json:"reply"`
	CreatedAt time.Time    `json:"created_at"`
}

// DraftReply is the customer's answer to a draft; its verdict is fine or changes.
type DraftReply struct {
	Verdict   string    `json:"verdict"`
	Text      *string   `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// Drafts returns the drafts of an order, newest first.
func (c *Client) Drafts(ctx context.Context, orderID string) iter.Seq2[Draft, error] {
	return Rows[Draft](ctx, c, at("/orders/", orderID, "/drafts"), "drafts", nil)
}

// SendDraft shows a draft with text, attachment_ids or both to the customer, through the outbox.
func (a *Agent) SendDraft(ctx context.Context, orderID string, fields Fields) (made Draft, replayed bool, err error) {
	return act[Draft](ctx, a, at("/orders/", orderID, "/drafts"), "draft", fields)
}

// ReplyToDraft answers the newest draft, once, through the outbox; verdict is fine or changes.
func (a *Agent) ReplyToDraft(ctx context.Context, orderID, draftID, verdict, text string) (made Draft, replayed bool, err error) {
	body := Fields{"verdict": verdict}
	if text != "" {
		body["text"] = text
	}
	return act[Draft](ctx, a, at("/orders/", orderID, at("/drafts/", draftID, "/reply")), "draft", body)
}
