package workload

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// export has some agents make an archive of everything, and looks into it.
func (w *Workload) export(ctx context.Context, final *history.Final) error {
	final.Exports = make(map[string]history.Export)
	for _, a := range []*Agent{w.Agents[0], w.Agents[1], w.rivals[0]} {
		id := uuid.NewString()
		r := request{operation: history.ExportCreate, id: id, subject: a.Handle, method: http.MethodPost, path: "/exports", keep: true,
			body: map[string]string{"operation_id": id}}
		a.pair(ctx, r, r)
		var asked struct {
			Export struct {
				ID, State string
				Parts     []struct{ N int }
			}
		}
		got, _ := a.repeat(ctx, r)
		if !got.succeeded() || got.into(&asked) != nil {
			return fmt.Errorf("export of %s: %d %s", a.Handle, got.status, got.body)
		}
		got = a.made(ctx, time.Now().Add(exportWithin), request{operation: "export.get", subject: a.Handle, method: http.MethodGet, path: "/exports/" + asked.Export.ID},
			func(got answer) bool { return got.into(&asked) == nil && asked.Export.State == "ready" })
		if asked.Export.State != "ready" {
			return fmt.Errorf("export of %s: %d %s", a.Handle, got.status, got.body)
		}
		made := history.Export{Members: make(map[string][]string), Sums: make(map[string]string)}
		for _, part := range asked.Export.Parts {
			got := a.once(ctx, request{operation: "export.part", subject: a.Handle, method: http.MethodGet,
				path: fmt.Sprintf("/exports/%s/parts/%d", asked.Export.ID, part.N)})
			if err := open(got.body, &made); err != nil {
				return fmt.Errorf("export of %s: %w", a.Handle, err)
			}
		}
		final.Exports[a.Handle] = made
	}
	return nil
}

// open reads a part of an archive.
func open(part []byte, into *history.Export) error {
	archive, err := zip.NewReader(bytes.NewReader(part), int64(len(part)))
	if err != nil {
		return err
	}
	for _, member := range archive.File {
		file, err := member.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		if member.Name == "manifest.jws" {
			into.Manifest = strings.TrimSpace(string(content))
			continue
		}
		into.Sums[member.Name] = hash(content)
		if strings.HasSuffix(member.Name, ".jsonl") {
			into.Members[member.Name] = append(into.Members[member.Name], recordIDs(content)...)
		}
	}
	return nil
}

// recordIDs are the ids of records, one a line.
func recordIDs(lines []byte) (ids []string) {
	for line := range bytes.Lines(lines) {
		var record struct {
			ID    any `json:"id"`
			Order struct {
				ID string `json:"id"`
			} `json:"order"`
		}
		if json.Unmarshal(line, &record) != nil {
			continue
		}
		if record.ID == nil {
			record.ID = record.Order.ID
		}
		ids = append(ids, fmt.Sprint(record.ID))
	}
	return ids
}

// erase has an agent of the bursts ask to be erased, change its mind, and ask again; others look for it all the while.
func (w *Workload) erase(ctx context.Context, _ *history.Final) error {
	i := slices.IndexFunc(w.burst, func(a *Agent) bool { return len(a.friends) > 0 })
	a, reader := w.burst[i], w.Agents[1]
	word := "word" + strings.ReplaceAll(uuid.NewString(), "-", "")
	a.once(ctx, request{operation: history.ProfileUpdate, subject: a.Handle, method: http.MethodPatch, path: "/bots/me", keep: true, noted: true,
		body: map[string]any{"bio": "The " + word}})
	got := a.once(ctx, request{operation: history.PostCreate, method: http.MethodPost, path: "/posts", keep: true, noted: true,
		body: map[string]string{"title": a.Handle + " leaves", "text": "About " + word, "kind": "portfolio", "visibility": "public"}})
	var made struct{ Post struct{ ID string } }
	if !got.succeeded() || got.into(&made) != nil {
		return fmt.Errorf("%s cannot write: %d %s", a.Handle, got.status, got.body)
	}
	a.once(ctx, request{operation: history.TaskCreate, subject: a.Handle, method: http.MethodPost, path: "/tasks", keep: true,
		body: map[string]any{"title": "A task " + word, "description": "About " + word, "amount_minor": 5, "deadline": deadline()}})
	look := func() {
		p := post{id: made.Post.ID, author: a}
		for _, server := range w.servers {
			for _, r := range []request{a.card(), p.read(), reading(a, word, "/bots?q="+word), reading(a, word, "/posts?page_size=50"),
				reading(a, word, "/tasks?q="+word)} {
				r.server = server
				reader.once(ctx, r)
			}
		}
	}
	look()
	for range 2 {
		a.askForErasure(ctx)
		look()
		a.once(ctx, request{operation: history.ErasureGet, subject: a.Handle, method: http.MethodGet, path: "/bots/me/erasure", keep: true})
		a.once(ctx, request{operation: history.ErasureCancel, subject: a.Handle, method: http.MethodDelete, path: "/bots/me/erasure", keep: true})
		a.once(ctx, request{operation: history.ErasureGet, subject: a.Handle, method: http.MethodGet, path: "/bots/me/erasure", keep: true})
		look()
		a.once(ctx, request{operation: history.ProfileUpdate, subject: a.Handle, method: http.MethodPatch, path: "/bots/me", keep: true, noted: true,
			body: map[string]any{"profile_public": true}})
		look()
	}
	a.askForErasure(ctx)
	return w.await(ctx, a, look)
}

// askForErasure asks that the agent be erased, twice at the same moment and once more.
func (a *Agent) askForErasure(ctx context.Context) {
	id := uuid.NewString()
	r := request{operation: history.ErasureRequest, id: id, subject: a.Handle, method: http.MethodPost, path: "/bots/me/erasure", keep: true,
		body: map[string]string{"operation_id": id, "confirm_handle": a.Handle}}
	a.pair(ctx, r, r)
	a.repeat(ctx, r)
}

// await lets the time of an erasure come, which is seven days, waits until the agent's token has ended, and looks again.
func (w *Workload) await(ctx context.Context, a *Agent, look func()) error {
	if _, err := w.bed.DB.ExecContext(ctx, "UPDATE erasures SET due_at = now() WHERE bot_id = $1 AND cancelled_at IS NULL", a.ID); err != nil {
		return err
	}
	due := request{operation: history.ErasureDue, subject: a.Handle, method: http.MethodGet, path: "/bots/me/erasure"}
	for end := time.Now().Add(madeWithin); time.Now().Before(end); {
		if got := a.once(ctx, due); got.status == http.StatusUnauthorized || !a.pause(ctx, madePace) {
			break
		}
	}
	look()
	return nil
}

// reading is a search for what an agent has written.
func reading(a *Agent, word, path string) request {
	return request{operation: history.PublicRead, subject: a.Handle, of: word, method: http.MethodGet, path: path, keep: true}
}
