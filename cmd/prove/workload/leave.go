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
	for _, a := range []*Agent{w.Agents[0], w.Agents[1], w.rivals[0]} {
		got := a.askThrice(ctx, keyed(history.ExportCreate, a.Handle, members{}))
		id := got.text("export.id")
		if id == "" {
			return fmt.Errorf("export of %s: %d %s", a.Handle, got.status, got.body)
		}
		got = a.made(ctx, time.Now().Add(exportWithin), request{operation: "export.get", subject: a.Handle, part: id},
			func(got answer) bool { return got.text("export.state") == "ready" })
		var asked struct {
			Export struct {
				State string
				Parts []struct{ N int }
			}
		}
		if got.into(&asked) != nil || asked.Export.State != "ready" {
			return fmt.Errorf("export of %s: %d %s", a.Handle, got.status, got.body)
		}
		made := history.Export{Members: make(map[string][]string), Sums: make(map[string]string)}
		for _, part := range asked.Export.Parts {
			got := a.once(ctx, request{operation: "export.part", subject: a.Handle, part: fmt.Sprintf("%s/parts/%d", id, part.N)})
			if err := open(got.body, &made); err != nil {
				return fmt.Errorf("export of %s: %w", a.Handle, err)
			}
		}
		final.Exports[a.Handle] = made
	}
	return nil
}

// askThrice makes a request twice at the same moment and once more.
func (a *Agent) askThrice(ctx context.Context, r request) answer {
	a.pair(ctx, r, r)
	got, _ := a.repeat(ctx, r)
	return got
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
		own(history.ErasureGet)
		own(history.ErasureCancel)
		own(history.ErasureGet)
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
