package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// noncesKept is for how long a nonce is remembered at least: one day longer than a bound message can be opened.
const noncesKept = staleAfter + 24*time.Hour

// noEvent stands in a line for a message that no event has brought.
const noEvent = "-"

// opening names the message as which a nonce was opened: the server's id, and the event that brought it, noEvent for a list.
type opening struct{ message, event string }

// month holds the openings of one file, by mark.
type month struct {
	journal

	openings map[string]opening
}

// Nonces remembers as what each message was opened (§12.1), so that a server cannot show one message as two: a nonce, under one pair
// of keys, belongs to one message and to one event. It is a folder of files of mode 0600, one for each month, with a line for each
// opening: mark, message id and event id (docs/clients.md). A file is deleted 92 days after its month.
//
// Lines are only appended, each is on disk before the message is handed to anyone, and of two lines of one nonce the first counts,
// so several programs may share the folder.
type Nonces struct {
	folder string

	mu     sync.Mutex
	months map[string]*month
}

// OpenNonces makes the folder if it does not exist, and deletes the files that are too old.
func OpenNonces(folder string) (*Nonces, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	n := &Nonces{folder: folder, months: make(map[string]*month)}
	return n, n.forget(time.Now())
}

// Claim remembers that the message with that id is opened, brought by an event or, if eventID is empty, read in a list. It returns
// ErrReplayed if its nonce was opened as another message or by another event. peerKey is the other side's key. sealed is the time at
// which a bound message was sealed, else the zero time; a time in the future is remembered longer.
func (n *Nonces) Claim(peerKey, nonce, messageID, eventID string, sealed time.Time) error {
	mark, err := markOf(peerKey, nonce)
	if err != nil {
		return err
	}
	wanted := opening{event: noEvent}
	if wanted.message, err = canonicalID(messageID); err != nil {
		return err
	}
	if eventID != "" {
		if wanted.event, err = canonicalID(eventID); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, err := n.compare(mark, wanted); known || err != nil {
		return err
	}
	now := time.Now()
	name := slices.MaxFunc([]time.Time{now, sealed}, time.Time.Compare).UTC().Format("2006-01")
	line := strings.Join([]string{mark, wanted.message, wanted.event}, " ")
	file := journal{path: filepath.Join(n.folder, name)}
	if err := errors.Join(n.forget(now), file.append([]byte(line))); err != nil {
		return err
	}
	known, err := n.compare(mark, wanted) // another program may have opened it as something else meanwhile
	if err == nil && !known {
		err = fmt.Errorf("%s does not keep what is written to it", n.folder)
	}
	return err
}

// markOf names a nonce under the keys of this agent and a peer: the first 18 bytes of a hash, in 24 characters.
func markOf(peerKey, nonce string) (string, error) {
	key, err := decodeKey(peerKey)
	if err != nil {
		return "", fmt.Errorf("%w: the other's key: %w", ErrSealed, err)
	}
	raw, err := decodeNonce(nonce)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(digest("stoa nonce memory 1\n", [][]byte{key[:], raw[:]})[:markSize]), nil
}

const markSize = 18

// canonicalID returns an id as it stands in a line.
func canonicalID(id string) (string, error) {
	parsed, err := parseID(id)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrAltered, err)
	}
	return parsed.String(), nil
}

// compare reports whether a nonce is remembered as opened as wanted.
func (n *Nonces) compare(mark string, wanted opening) (known bool, err error) {
	if err := n.load(); err != nil {
		return false, err
	}
	first, found := n.find(mark)
	if !found {
		return false, nil
	}
	if first.message != wanted.message || wanted.event != noEvent && first.event != noEvent && first.event != wanted.event {
		return false, ErrReplayed
	}
	return wanted.event == noEvent || first.event == wanted.event, nil
}

// find merges the lines of a nonce: the first message counts, and the first event that brought it.
func (n *Nonces) find(mark string) (found opening, ok bool) {
	found.event = noEvent
	names := make([]string, 0, len(n.months))
	for name := range n.months {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if line, there := n.months[name].openings[mark]; there {
			found, ok = merge(found, ok, line), true
		}
	}
	return found, ok
}

// merge applies a line to what the lines before it say of the same nonce.
func merge(before opening, found bool, line opening) opening {
	switch {
	case !found:
		return line
	case before.message == line.message && before.event == noEvent:
		return line
	}
	return before
}

// load reads what was appended since it was called last, by any program.
func (n *Nonces) load() error {
	entries, err := os.ReadDir(n.folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, err := time.Parse("2006-01", entry.Name()); err != nil {
			continue // not ours
		}
		if err := n.loadMonth(entry.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // another program may have deleted it
			return err
		}
	}
	return nil
}

// loadMonth reads a file. If it was replaced by hand, what is known stays known.
func (n *Nonces) loadMonth(name string) error {
	kept := n.months[name]
	if kept == nil {
		kept = &month{journal{path: filepath.Join(n.folder, name)}, make(map[string]opening)}
		n.months[name] = kept
	}
	return kept.follow(nil, func(line []byte) {
		if mark, read, ok := parseOpening(string(line)); ok {
			before, found := kept.openings[mark]
			kept.openings[mark] = merge(before, found, read)
		}
	})
}

// parseOpening reads a line; ok is false for one that a crash has cut.
func parseOpening(line string) (mark string, read opening, ok bool) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 || len(parts[0]) != base64.RawURLEncoding.EncodedLen(markSize) {
		return "", opening{}, false
	}
	message, err := canonicalID(parts[1])
	if err != nil {
		return "", opening{}, false
	}
	event := noEvent
	if parts[2] != noEvent {
		event, err = canonicalID(parts[2])
	}
	return parts[0], opening{message, event}, err == nil
}

// forget deletes the files whose months ended over 92 days ago.
func (n *Nonces) forget(now time.Time) error {
	entries, err := os.ReadDir(n.folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		began, err := time.Parse("2006-01", entry.Name())
		if err != nil || now.Before(began.AddDate(0, 1, 0).Add(noncesKept)) {
			continue
		}
		delete(n.months, entry.Name())
		if err := os.Remove(filepath.Join(n.folder, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
