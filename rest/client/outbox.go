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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// keptFor is how long the outbox remembers requests that were carried out: messages are kept as long (§2.4), and after that a
// repeat is message_expired.
const keptFor = 91 * 24 * time.Hour

// ErrOtherContent says that an id was used for another request: choose a new one.
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

// Outbox keeps requests on disk from before they are sent until they are answered, and for 91 days after that, so that a program
// that was killed in between sends the same request again: an order is paid once, and a message goes out under one nonce.
// Requests hold envelopes and terms, never a private key or a token. Several programs may share the folder.
type Outbox struct{ folder string }

// OpenOutbox makes the folder if it does not exist, and deletes requests that are too old.
func OpenOutbox(folder string) (*Outbox, error) {
	o := &Outbox{folder}
	for _, name := range []string{o.waiting(""), o.done("")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return nil, err
		}
	}
	old, err := os.ReadDir(o.done(""))
	if err != nil {
		return nil, err
	}
	for _, entry := range old {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(o.done(""), entry.Name())) // another program may have done it
		}
	}
	return o, nil
}

func (o *Outbox) waiting(id string) string { return o.file("waiting", id) }
func (o *Outbox) done(id string) string    { return o.file("done", id) }

func (o *Outbox) file(state, id string) string {
	if id == "" {
		return filepath.Join(o.folder, state)
	}
	return filepath.Join(o.folder, state, strings.ToLower(filepath.Base(id))+".json")
}

// Find returns the request that was kept under an id, answered or not.
func (o *Outbox) Find(id string) (Kept, bool, error) {
	for _, path := range []string{o.waiting(id), o.done(id), o.done(id)} { // it may move from one to the other meanwhile
		found, err := read(path)
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

// Waiting are the requests that were not answered, oldest first.
func (o *Outbox) Waiting() ([]Kept, error) {
	entries, err := os.ReadDir(o.waiting(""))
	if err != nil {
		return nil, err
	}
	all := make([]Kept, 0, len(entries))
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue // being written
		}
		found, err := read(filepath.Join(o.waiting(""), entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	slices.SortFunc(all, func(a, b Kept) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, nil
}

// keep writes a request before it is sent. One that is there already under its id must be the same.
func (o *Outbox) keep(k Kept) (Kept, error) {
	found, ok, err := o.Find(k.ID)
	if err != nil {
		return found, err
	}
	if ok {
		if found.Method != k.Method || found.Path != k.Path || !sameJSON(found.Body, k.Body) {
			return found, fmt.Errorf("%s: %w", k.ID, ErrOtherContent)
		}
		return found, nil
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return k, err
	}
	return k, writeFile(o.waiting(k.ID), raw)
}

func sameJSON(a, b json.RawMessage) bool {
	first, err := canonical(a)
	second, other := canonical(b)
	return err == nil && other == nil && bytes.Equal(first, second)
}

// SendKept sends a request that carries an id, and keeps it in the outbox until it is answered. Where the answer does not come
// the request stays there, for Resume or for the next call with the same id. A request that is refused permanently is deleted.
func (c *Client) SendKept(ctx context.Context, o *Outbox, id, method, path string, body any) (*Answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	kept, err := o.keep(Kept{ID: id, Method: method, Path: path, Body: raw, CreatedAt: time.Now().UTC()})
	if err != nil {
		return nil, err
	}
	return c.deliver(ctx, o, kept)
}

func (c *Client) deliver(ctx context.Context, o *Outbox, k Kept) (*Answer, error) {
	answer, err := c.Send(ctx, k.Method, k.Path, k.Body)
	switch {
	case err == nil:
		// Its file reports that it was done; another program may have moved it.
		if moved := os.Rename(o.waiting(k.ID), o.done(k.ID)); moved != nil && !errors.Is(moved, fs.ErrNotExist) {
			return answer, moved
		}
	case isFinal(err):
		_ = os.Remove(o.waiting(k.ID)) // it may have been done before
	}
	return answer, err
}

// isFinal reports whether a request was refused permanently, as opposed to temporarily or for a missing token.
func isFinal(err error) bool {
	fault, ok := errors.AsType[*Fault](err)
	return ok && fault.Status < http.StatusInternalServerError && fault.Status != http.StatusUnauthorized &&
		fault.Code != "no_answer" && !passing[fault.Code]
}

// Resume sends the requests that had no answer when the program ended. The first request that gets no answer ends it; refusals
// are reported to refused, and forgotten.
func (c *Client) Resume(ctx context.Context, o *Outbox, refused func(Kept, *Fault)) error {
	waiting, err := o.Waiting()
	if err != nil {
		return err
	}
	for _, kept := range waiting {
		_, err := c.deliver(ctx, o, kept)
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

// DeriveID is the operation id of a request whose sender names none: a UUID of version 5 of the method, the path with its query,
// and the body as JSON with members sorted by name and without white space (§4.11). The same request has the same id in every
// client and among the server's tools, so an agent that asks twice acts once. path begins with Prefix, and body has no
// operation_id.
func DeriveID(method, path string, body any) (string, error) {
	text, err := canonical(body)
	if err != nil {
		return "", err
	}
	return uuid.NewSHA1(operationSpace, append([]byte(method+" "+path+"\n"), text...)).String(), nil
}

// canonical is JSON with sorted members, without white space and without escapes that JSON does not need; numbers stay as
// written.
func canonical(value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(whole); err != nil {
		return nil, err
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}
