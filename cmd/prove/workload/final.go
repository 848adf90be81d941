package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"stoa/cmd/prove/history"
)

// Read reads everything that the agents can see, once all has settled.
func (w *Workload) Read(ctx context.Context) error {
	final := history.Final{
		Orders: make(map[string]json.RawMessage), Entries: make(map[string][]history.Entry), Wallets: make(map[string]history.Wallet),
		Messages: make(map[string][]history.Message), Posts: make(map[string]map[string]string), Files: make(map[string]string),
		Onboarding: make(map[string]json.RawMessage),
	}
	byID := make(map[string]*Agent, len(w.Agents))
	for _, a := range w.registered {
		byID[a.ID] = a
		if a.bearer() == "" {
			continue // its token was lost with an answer
		}
		for _, read := range []func(context.Context, *history.Final) error{a.readBooks, a.readConversations, a.readPosts} {
			if err := read(ctx, &final); err != nil {
				return err
			}
		}
	}
	for _, a := range append(w.all(), w.guesser) {
		body, err := a.readOnboarding(ctx)
		if err != nil {
			return err
		}
		final.Onboarding[a.Handle] = body
	}
	for _, o := range w.orders.orders {
		body, err := byID[o.customer].finalOrder(ctx, o.id)
		if err != nil {
			return err
		}
		final.Orders[o.id] = body
	}
	if err := w.readFiles(ctx, &final); err != nil {
		return err
	}
	if !w.older() {
		for _, read := range []func(context.Context, *history.Final) error{w.readLog, w.readReceipts, w.export, w.erase} {
			if err := read(ctx, &final); err != nil {
				return err
			}
		}
	}
	w.revoke(ctx)
	audit, err := w.bed.Audit(ctx)
	if err != nil {
		return err
	}
	final.Acts, final.Audit = w.bed.Acts, audit
	w.Recorder.Record(func(h *history.History) { final.Before = h.Final.Before; h.Final = final })
	return nil
}

func (a *Agent) readBooks(ctx context.Context, final *history.Final) (err error) {
	final.Entries[a.Handle], final.Wallets[a.Handle], err = a.allEntries(ctx)
	return err
}

func (a *Agent) readConversations(ctx context.Context, final *history.Final) (err error) {
	for _, with := range a.friends {
		if final.Messages[a.Handle+"/"+with.Handle], err = a.allMessages(ctx, with); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) readPosts(ctx context.Context, final *history.Final) error {
	titles := make(map[string]string)
	for page := 1; page != 0; {
		got := a.once(ctx, request{operation: "post.list", method: http.MethodGet, path: fmt.Sprintf("/posts?page_size=50&page=%d", page)})
		var list struct {
			Posts []struct {
				ID     string `json:"id"`
				Title  string `json:"title"`
				Author struct {
					ID string `json:"id"`
				} `json:"author"`
			} `json:"posts"`
			NextPage *int `json:"next_page"`
		}
		if !got.succeeded() {
			return fmt.Errorf("posts of %s: %d %s", a.Handle, got.status, got.body)
		}
		if err := got.into(&list); err != nil {
			return err
		}
		for _, post := range list.Posts {
			if post.Author.ID == a.ID {
				titles[post.ID] = post.Title
			}
		}
		page = 0
		if list.NextPage != nil {
			page = *list.NextPage
		}
	}
	final.Posts[a.Handle] = titles
	return nil
}

// readFiles downloads every file that an upload was answered for.
func (w *Workload) readFiles(ctx context.Context, final *history.Final) error {
	owners := make(map[string]*Agent)
	for _, a := range w.registered {
		owners[a.Handle] = a
	}
	var uploads []history.Attempt
	w.Recorder.Record(func(h *history.History) {
		for _, attempt := range h.Attempts {
			if attempt.Operation == "file.upload" && attempt.Succeeded() {
				uploads = append(uploads, attempt)
			}
		}
	})
	read := make(map[string]bool)
	for _, upload := range uploads {
		var made struct {
			Attachment struct {
				ID string `json:"id"`
			} `json:"attachment"`
		}
		if err := json.Unmarshal(upload.Body, &made); err != nil {
			return err
		}
		if read[made.Attachment.ID] {
			continue // a repeat
		}
		read[made.Attachment.ID] = true
		got := owners[upload.Agent].once(ctx, request{operation: "file.download", subject: made.Attachment.ID, method: http.MethodGet,
			path: "/attachments/" + made.Attachment.ID + "/download"})
		if got.succeeded() {
			final.Files[made.Attachment.ID] = hash(got.body)
		}
	}
	return nil
}
