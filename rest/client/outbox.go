package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client/durable"
)

// keptFor is how long the outbox remembers answered requests. Messages are kept as long (§2.4); a later repeat is
// message_expired.
const keptFor = 91 * 24 * time.Hour

// ErrOtherContent means that an id was used for another request: choose a new id.
var ErrOtherContent = errors.New("the id was used for something else")

// Kept is a request in an Outbox.
type Kept struct {
	// ID is the operation_id, client_message_id or upload_id of the request.
	ID        string          `json:"id"`
	Method    string          `json:"method"`
	Path      string          `json:"path"`
	Body      json.RawMessage `json:"body"`
	CreatedAt time.Time       `json:"created_at"`
}

// Outbox stores requests on disk before they are sent, and keeps them until 91 days after the answer. So a program that was
// killed in between sends the same request again: an order is paid once, and a message has one nonce. Requests contain envelopes
// and terms, never a private key or a token. Several programs may share the folder.
type Outbox struct{ folder string }

// OpenOutbox makes the folder if it does not exist, and deletes requests that are too old.
func OpenOutbox(folder string) (*Outbox, error) {
	for _, state := range []string{waiting, done} {
		if err := os.MkdirAll(filepath.Join(folder, state), 0o700); err != nil {
			return nil, err
		}
	}
	old, err := os.ReadDir(filepath.Join(folder, done))
	for _, entry := range old {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(folder, done, entry.Name())) // another program may have done it
		}
	}
	return &Outbox{folder}, err
}

// The folders of an outbox: of requests without an answer, and of answered ones.
const waiting, done = "waiting", "done"

func (o *Outbox) file(state, id string) string {
	return filepath.Join(o.folder, state, strings.ToLower(filepath.Base(id))+".json")
}

// Find returns the request that is stored under an id, answered or not.
func (o *Outbox) Find(id string) (Kept, bool, error) {
	for _, state := range []string{waiting, done, done} { // it may be moved meanwhile
		found, err := read(o.file(state, id))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return found, err == nil, err
		}
	}
	return Kept{}, false, nil
}

func read(path string) (Kept, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Kept{}, err
	}
	var found Kept
	if err := json.Unmarshal(raw, &found); err != nil {
		return Kept{}, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// Waiting returns the unanswered requests, oldest first.
func (o *Outbox) Waiting() ([]Kept, error) { return o.list(waiting) }

// list returns the requests of a folder, oldest first, and the errors of those that cannot be read.
func (o *Outbox) list(state string) (all []Kept, err error) {
	entries, err := os.ReadDir(filepath.Join(o.folder, state))
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue // being written
		}
		found, failed := read(filepath.Join(o.folder, state, entry.Name()))
		switch {
		case failed == nil:
			all = append(all, found)
		case !errors.Is(failed, fs.ErrNotExist): // it may be moved meanwhile
			err = errors.Join(err, failed)
		}
	}
	slices.SortFunc(all, func(a, b Kept) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}

// keep stores a request that is posted to a path before it is sent, or returns the one that is stored under its id. Of all callers
// at once, in all programs, one stores its request.
func (o *Outbox) keep(id, path string, body any) (Kept, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return Kept{}, err
	}
	unlock, err := durable.Lock(o.folder)
	if err != nil {
		return Kept{}, err
	}
	defer unlock()
	if found, ok, err := o.Find(id); ok || err != nil {
		return found, err
	}
	k := Kept{ID: id, Method: http.MethodPost, Path: path, Body: raw, CreatedAt: time.Now().UTC()}
	if raw, err = json.Marshal(k); err != nil {
		return k, err
	}
	return k, durable.WriteFile(o.file(waiting, id), raw)
}

func sameJSON(a, b any) bool {
	first, err := canonical(a)
	second, other := canonical(b)
	return err == nil && other == nil && bytes.Equal(first, second)
}

// sendKept posts a request that carries an id, and keeps it in the outbox until it is answered. If no answer comes, the request
// stays there for Resume or for the next call with the same id. A permanently refused request is deleted.
func (a *Agent) sendKept(ctx context.Context, id, path string, body any) (*Answer, error) {
	kept, err := a.Outbox.keep(id, path, body)
	if err != nil {
		return nil, err
	}
	if kept.Method != http.MethodPost || kept.Path != path || !sameJSON(kept.Body, body) { // it was stored before
		return nil, fmt.Errorf("%s: %w", id, ErrOtherContent)
	}
	return a.deliver(ctx, kept)
}

func (a *Agent) deliver(ctx context.Context, k Kept) (*Answer, error) {
	answer, err := a.Send(ctx, k.Method, k.Path, k.Body)
	switch {
	case err == nil:
		// Its file reports that it was done, and when, to OpenOutbox; another program may have moved it.
		_ = os.Chtimes(a.Outbox.file(waiting, k.ID), time.Time{}, time.Now())
		if moved := os.Rename(a.Outbox.file(waiting, k.ID), a.Outbox.file(done, k.ID)); moved != nil && !errors.Is(moved, fs.ErrNotExist) {
			return answer, moved
		}
	case isFinal(err):
		_ = os.Remove(a.Outbox.file(waiting, k.ID)) // it may have been done before
	}
	return answer, err
}

// isFinal reports whether a request was refused permanently, as opposed to temporarily or for a missing token.
func isFinal(err error) bool {
	fault, ok := errors.AsType[*Fault](err)
	return ok && fault.Status < http.StatusInternalServerError && fault.Status != http.StatusUnauthorized &&
		fault.Code != "no_answer" && !passing[fault.Code]
}

// Resume sends the requests that had no answer when the program ended. It ends at the first request without an answer. Refusals
// are passed to refused and forgotten.
func (a *Agent) Resume(ctx context.Context, refused func(Kept, *Fault)) error {
	unanswered, err := a.Outbox.Waiting()
	if err != nil {
		return err
	}
	for _, kept := range unanswered {
		_, err := a.deliver(ctx, kept)
		if fault, ok := errors.AsType[*Fault](err); ok && isFinal(err) {
			refused(kept, fault)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// operationSpace is the namespace of derived ids (§4.11).
var operationSpace = uuid.MustParse("6e8b7d1c-52c4-5b0e-9d0f-3f1f0c7a5a11")

// DeriveID returns the default operation id of a request: a UUID of version 5 of the method, the path with its query, and the
// body as JSON with members sorted by name and without white space (§4.11). The same request has the same id in every client and
// in the server's tools, so a repeated request acts once. path begins with Prefix, and body has no operation_id.
func DeriveID(method, path string, body any) (string, error) {
	text, err := canonical(body)
	if err != nil {
		return "", err
	}
	return uuid.NewSHA1(operationSpace, append([]byte(method+" "+path+"\n"), text...)).String(), nil
}

// canonical returns JSON with sorted members, without white space and unnecessary escapes; numbers stay as written.
func canonical(value any) ([]byte, error) {
	var whole any
	if err := reread(value, &whole); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(whole); err != nil {
		return nil, err
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}

// ratedAgents is the most agents whose received ratings RatingsDue reads, listedRatings how many ratings one answer lists.
const ratedAgents, listedRatings = 10, 100

// RatingsDue returns the ids of the closed orders that this agent has not rated. It knows the ratings in the outbox, and reads
// the newest 100 ratings of the other side for the first 10 agents. It leaves out an order if neither decides.
func (a *Agent) RatingsDue(ctx context.Context, orders []Order) (map[string]bool, error) {
	answered, _ := a.Outbox.list(done) // without those that are broken: the server knows the ratings
	// rated has the orders whose other side this agent has rated. All ratings of an agent after the time in since are in it.
	due, rated, since := make(map[string]bool), make(map[string]bool), make(map[string]time.Time)
	for _, kept := range answered {
		if order, isRating := strings.CutSuffix(kept.Path, "/rating"); isRating {
			rated[strings.ToLower(path.Base(order))] = true
		}
	}
	for _, order := range orders {
		side := order.ContractorID
		if strings.EqualFold(side, a.identity.ID) {
			side = order.CustomerID
		}
		_, known := since[side]
		if order.State != StateClosed || rated[order.ID] || !known && len(since) == ratedAgents {
			continue
		}
		if !known {
			newest, err := First(a.Ratings(ctx, side, ""), listedRatings)
			if err != nil && !HasCode(err, "not_found") { // an agent whose ratings are not shown counts as not rated
				return nil, err
			}
			for _, rating := range newest {
				rated[rating.OrderID] = rated[rating.OrderID] || strings.EqualFold(rating.Author.ID, a.identity.ID)
			}
			since[side] = time.Time{}
			if len(newest) == listedRatings {
				since[side] = newest[listedRatings-1].CreatedAt
			}
		}
		if !rated[order.ID] && (order.ClosedAt == nil || !order.ClosedAt.Before(since[side])) {
			due[order.ID] = true
		}
	}
	return due, nil
}

// ReadUntil returns, by agent id, the time up to which the agent's messages were read: see MarkRead.
func (a *Agent) ReadUntil() (map[string]time.Time, error) {
	return durable.Marks[time.Time](a.file + ".read")
}

// MarkRead records in <key file>.read that the messages of an agent were read up to a time.
func (a *Agent) MarkRead(botID string, until time.Time) error {
	return durable.ChangeMarks(a.file+".read", func(marks map[string]time.Time) bool {
		newer := until.After(marks[botID])
		if newer {
			marks[botID] = until
		}
		return newer
	})
}
