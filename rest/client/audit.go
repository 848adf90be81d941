package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"stoa/rest/client/durable"
	"stoa/rest/client/keylog"
)

// Audited holds the findings of an audit of a log.
type Audited struct {
	Origin string `json:"origin"`
	Vkey   string `json:"vkey"`
	// Size counts the entries of the log, Read those that this audit read, Agents the entries of agents.
	Size   int64 `json:"size"`
	Read   int64 `json:"read"`
	Agents int   `json:"agents"`
	// Witnesses maps each known witness to the time at which it signed the head. Claimed lists the vkeys that the server names.
	Witnesses map[string]time.Time `json:"witnesses"`
	Claimed   []string             `json:"claimed_witnesses"`
	// Index is the index of the agent's own entry, nil in an audit without an agent.
	Index *int64 `json:"index,omitempty"`

	seen *seenLog
	view *logView
}

// ErrNoLog means that a server has no key log.
var ErrNoLog = errors.New("the server has no key log")

// Audit reads the entries since the last audit. It checks that they match the head that the server has signed (with a quorum if
// one is required), that the newest head continues it and all kept heads, and that no handle has two entries (ErrLabelTwice). It
// returns ErrNoLog if the server has no log.
func (l *KeyLog) Audit(ctx context.Context) (made Audited, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.patiently(ctx, func() error {
		made, err = l.audit(ctx)
		return err
	})
	return made, err
}

func (l *KeyLog) audit(ctx context.Context) (made Audited, err error) {
	v, err := l.view(ctx)
	if err == nil && v == nil {
		err = ErrNoLog
	}
	if err != nil {
		return made, err
	}
	head, err := l.advance(ctx, v)
	if err != nil {
		return made, err
	}
	seen, err := openSeenLog(l.folder, v.Origin)
	if err != nil {
		return made, err
	}
	if seen.Size > head.Size {
		return made, l.forked("", head.Note, fmt.Sprintf("%d entries were read, and the log now says %d", seen.Size, head.Size))
	}
	newest := head
	if len(head.By) < l.checks.Quorum { // witnesses sign a head a moment later; what it adds is left for the next audit
		last := max(seen.Size, 1) - 1
		if _, head, err = l.proof(ctx, v, last); err == nil && (len(head.By) < l.checks.Quorum || head.Size <= last) {
			err = l.belowQuorum(len(head.By))
		}
		if err == nil {
			newest, err = l.advance(ctx, v, newest, head)
		}
		if err != nil {
			return made, err
		}
	}
	made = Audited{
		Origin: v.Origin, Vkey: v.vkey, Size: head.Size, Read: head.Size - seen.Size, Witnesses: head.By, Claimed: v.Witnesses,
		seen: seen, view: v,
	}
	if err := l.scan(ctx, v, seen.Size, head.Size, seen.add); err != nil {
		return made, err
	}
	made.Agents = len(seen.labels)
	if seen.Root() != head.Root {
		return made, l.forked(head.Note, head.Note, "the entries that the server shows do not make the head that it has signed")
	}
	return made, errors.Join(seen.save(), l.keep(v, newest, ""))
}

// WatchKey is KeyLog.Audit and also checks that the log has exactly one entry for this agent's handle, with the agent's own id
// and key. If not, it returns ErrOwnKey, ErrUnproven if the log has no such entry, another error if nothing opens the entry because
// this agent is being erased, or an error of Audit.
func (a *Agent) WatchKey(ctx context.Context) (made Audited, err error) {
	l := a.Log
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.patiently(ctx, func() error {
		if made, err = l.audit(ctx); err != nil {
			return err
		}
		return a.ownEntry(ctx, &made)
	})
	if errors.Is(err, ErrUnproven) && made.seen != nil {
		if index, found := made.seen.labels[keylog.AgentLabel(made.view.host, a.identity.Handle)]; found {
			err = ownKey("entry %d is of this agent's handle, and the server does not say that it is this agent's", index)
		}
	}
	return made, err
}

func ownKey(format string, args ...any) error {
	return refuse(ErrOwnKey, http.StatusConflict, "log_own_key", "%s. Tell those who write to you your fingerprint over another channel",
		fmt.Sprintf(format, args...))
}

func (a *Agent) ownEntry(ctx context.Context, made *Audited) error {
	card, err := a.Me(ctx)
	if err != nil {
		return err
	}
	card.ID, card.Handle = a.identity.ID, a.identity.Handle
	index, found := made.seen.labels[keylog.AgentLabel(made.view.host, card.Handle)]
	if found && card.KeyLog.Index == nil {
		o, err := a.Onboarding(ctx)
		if err != nil && !HasCode(err, "not_found") {
			return err
		}
		if e := o.Lifecycle.Erasure; err == nil && e != nil && e.State == "partial" {
			return fmt.Errorf("nothing opens entry %d, of this agent's handle, any more: the server says that it has erased the salt, because "+
				"the %s asked for the erasure of this agent. If nobody did, do not trust this server. The token works until the orders are closed",
				index, e.RequestedBy)
		}
	}
	switch {
	case card.KeyLog.Index == nil, !found && *card.KeyLog.Index >= made.Size:
		return laterError{"this agent's key is not in the key log yet"}
	case !found:
		return ownKey("entry %d, which the server names, is not of this agent's handle", *card.KeyLog.Index)
	case index != *card.KeyLog.Index:
		return ownKey("entry %d is of this agent's handle, and the server says that entry %d is", index, *card.KeyLog.Index)
	}
	_, _, err = a.Log.include(ctx, made.view, index, card.entry(made.view.host, a.Keys.Public()))
	if errors.Is(err, ErrUnproven) {
		return ownKey("entry %d, of this agent's handle, does not open to this agent's id and key", index)
	}
	if err == nil {
		made.Index = &index
	}
	return err
}

// seenLog is the part of a log that audits have read: its tree, and the index of each agent's label. One file has the entries of
// a signed head in the log's format. Another has the number that is on disk, so the remains of a crash are ignored. Programs may
// share the files, because all write the same bytes.
type seenLog struct {
	keylog.Edge

	path, origin string
	fresh        []byte // entries that are not in the file
	labels       map[[sha256.Size]byte]int64
}

func openSeenLog(folder, origin string) (*seenLog, error) {
	s := &seenLog{path: filepath.Join(folder, url.PathEscape(origin)), origin: origin, labels: make(map[[sha256.Size]byte]int64)}
	count, err := os.ReadFile(s.countFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	size, wrong := strconv.Atoi(string(count))
	raw, missing := os.ReadFile(s.path)
	err = errors.Join(err, wrong, missing)
	for i := 0; i < size && err == nil; i++ {
		var entry keylog.Entry
		if entry, err = keylog.ParseEntry(raw[:min(keylog.EntrySize, len(raw))]); err == nil {
			raw, err = raw[keylog.EntrySize:], s.add(int64(i), entry)
		}
	}
	if err != nil && !errors.Is(err, ErrLabelTwice) {
		err = fmt.Errorf("%s: %w: delete both to read the log from its beginning", s.countFile(), err)
	}
	s.fresh = nil
	return s, err
}

func (s *seenLog) countFile() string { return s.path + ".size" }

// add adds an entry that was read. It returns ErrLabelTwice if the handle of an agent has an entry already.
func (s *seenLog) add(index int64, entry keylog.Entry) error {
	raw := entry.Bytes()
	s.Append(raw, nil)
	s.fresh = append(s.fresh, raw...)
	if entry.Type != keylog.TypeAgent {
		return nil
	}
	if before, twice := s.labels[entry.Label]; twice {
		return refuse(ErrLabelTwice, http.StatusConflict, "log_label_twice", "entries %d and %d of %s have the label %x: one handle, and "+
			"two keys", before, index, s.origin, entry.Label)
	}
	s.labels[entry.Label] = index
	return nil
}

func (s *seenLog) save() error {
	if len(s.fresh) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(s.fresh, s.Size*keylog.EntrySize-int64(len(s.fresh)))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return durable.WriteFile(s.countFile(), strconv.AppendInt(nil, s.Size, 10))
}

func (l *KeyLog) tile(ctx context.Context, v *logView, n, size int64) ([]keylog.Entry, error) {
	width := int(min(keylog.TileWidth, size-n*keylog.TileWidth))
	path := keylog.EntriesPath(n, width)
	body, err := l.read(ctx, v, path)
	if err != nil {
		return nil, err
	}
	entries, err := keylog.ParseEntries(body)
	if err == nil && len(entries) != width {
		err = fmt.Errorf("it has %d entries", len(entries))
	}
	if err != nil {
		return nil, fmt.Errorf("%s of the key log: %w", path, err)
	}
	return entries, nil
}

// scan reads the entries from an index to the end of a head, in their order.
func (l *KeyLog) scan(ctx context.Context, v *logView, from, size int64, each func(index int64, entry keylog.Entry) error) error {
	for from < size {
		entries, err := l.tile(ctx, v, from/keylog.TileWidth, size)
		if err != nil {
			return err
		}
		for _, entry := range entries[from%keylog.TileWidth:] {
			if err := each(from, entry); err != nil {
				return err
			}
			from++
		}
	}
	return nil
}
