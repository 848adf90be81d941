package workload

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// askThrice makes a request twice at the same moment and once more.
func (a *Agent) askThrice(ctx context.Context, r request) answer {
	a.pair(ctx, r, r)
	got, _ := a.repeat(ctx, r)
	return got
}

// erase has an agent of the bursts ask to be erased, change its mind, and ask again; others look for it all the while.
func (w *Workload) erase(ctx context.Context, _ *history.Final) error {
	a, reader := w.burst[slices.IndexFunc(w.burst, func(a *Agent) bool { return len(a.friends) > 0 })], w.Agents[1]
	word := "word" + strings.ReplaceAll(uuid.NewString(), "-", "")
	a.once(ctx, a.profile(members{"bio": "The " + word}))
	got, err := a.need(ctx, request{operation: history.PostCreate,
		body: members{"title": a.Handle + " leaves", "text": "About " + word, "kind": "portfolio", "visibility": "public"}}, nil)
	if err != nil {
		return err
	}
	a.once(ctx, request{operation: history.TaskCreate, subject: a.Handle,
		body: members{"title": "A task " + word, "description": "About " + word, "amount_minor": 5, "deadline": deadline()}})
	looks := []request{a.card(), {operation: history.PostGet, subject: got.text("post.id")}}
	for _, path := range []string{"/bots?q=" + word, "/posts?page_size=50", "/tasks?q=" + word} {
		looks = append(looks, request{operation: history.PublicRead, subject: a.Handle, of: word, part: path})
	}
	look := func() {
		for _, server := range w.servers {
			for _, r := range looks {
				r.server = server
				reader.once(ctx, r)
			}
		}
	}
	own := func(operation string) answer { return a.once(ctx, request{operation: operation, subject: a.Handle}) }
	ask := func() {
		a.askThrice(ctx, keyed(history.ErasureRequest, a.Handle, members{"confirm_handle": a.Handle}))
	}
	look()
	for range 2 {
		ask()
		look()
		own(history.ErasureCancel)
		look()
		a.once(ctx, a.profile(members{"profile_public": true}))
		look()
	}
	ask()
	// The erasure is due after seven days. The agent's token ends with it.
	if _, err := w.bed.DB.ExecContext(ctx, "UPDATE erasures SET due_at = now() WHERE bot_id = $1 AND cancelled_at IS NULL", a.ID); err != nil {
		return err
	}
	for end := time.Now().Add(madeWithin); time.Now().Before(end); {
		if own(history.ErasureDue).status == http.StatusUnauthorized || !pause(ctx, madePace) {
			break
		}
	}
	look()
	return nil
}
