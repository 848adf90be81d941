package client

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stoa/rest/client/durable"
)

// journal is an append-only file of lines, of mode 0600, for pins, openings and handled events. Several programs may share one.
// Of two conflicting lines the first counts, and a line that a crash has cut is ignored.
type journal struct {
	path string
	// seen describes the file at the last read; read is the number of bytes read so far.
	seen os.FileInfo
	read int64
}

// follow passes on the lines that any program has appended since the last call. If the file was replaced or has shrunk, it calls
// anew, unless that is nil, and starts from the beginning.
func (j *journal) follow(anew func(), each func(line []byte)) error {
	file, err := os.Open(j.path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if j.seen == nil || !os.SameFile(info, j.seen) || info.Size() < j.read {
		j.read = 0
		if anew != nil {
			anew()
		}
	}
	j.seen = info
	raw, err := io.ReadAll(io.NewSectionReader(file, j.read, info.Size()-j.read))
	if err != nil {
		return err
	}
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1] // the rest is being written, or was cut by a crash
	j.read += int64(len(raw))
	for line := range bytes.Lines(raw) {
		each(bytes.TrimSuffix(line, []byte("\n")))
	}
	return nil
}

// append writes a line with one write, after the remains of a crash if there are any, and syncs it to disk. It creates the file
// if it does not exist; a nil line does only that.
func (j *journal) append(line []byte) (err error) {
	_, missing := os.Stat(j.path)
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if errors.Is(missing, fs.ErrNotExist) {
		if err := durable.SyncFolderOf(j.path); err != nil {
			return err
		}
	}
	if line == nil {
		return nil
	}
	if cut, err := endsWithoutNewline(file); err != nil {
		return err
	} else if cut {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Sync()
}

func endsWithoutNewline(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return last[0] != '\n', err
}

// Seen remembers handled events, so that an event that is delivered again (§6) is acknowledged and not handled twice.
type Seen struct {
	mu    sync.Mutex
	file  journal
	known map[string]bool
}

// keptEvents is how many events a Seen remembers from one run to the next. Far fewer can come again: at most 256 are in flight.
const keptEvents = 10_000

// OpenSeen opens the file, with one id a line, or makes it. One program at a time may have it open.
func OpenSeen(path string) (*Seen, error) {
	s := &Seen{file: journal{path: path}, known: make(map[string]bool)}
	var ids []string
	err := s.file.append(nil)
	if err == nil {
		err = s.file.follow(nil, func(line []byte) { ids = append(ids, string(line)) })
	}
	if len(ids) > 2*keptEvents {
		ids = ids[len(ids)-keptEvents:]
		err = durable.WriteFile(path, []byte(strings.Join(ids, "\n")+"\n"))
	}
	for _, id := range ids {
		s.known[id] = true
	}
	return s, err
}

// Has reports whether an event was handled.
func (s *Seen) Has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

// Add remembers an event. It is on disk when Add returns.
func (s *Seen) Add(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.file.append([]byte(id)); err != nil {
		return err
	}
	s.known[id] = true
	return nil
}

// noncesKept is the shortest time for which a nonce is remembered: one day longer than a bound message can be opened.
const noncesKept = staleAfter + 24*time.Hour

// noEvent replaces the event id in the line of a message that did not come with an event.
const noEvent = "-"

// opening is the message that was opened with a nonce: the server's id, and the event that brought it, noEvent for a list.
type opening struct{ message, event string }

// Nonces remembers opened messages (§12.1), so that a server cannot show one message as two: with one pair of keys, a nonce
// belongs to one message and one event. It is a folder of files of mode 0600, one for each month, with a line for each opening:
// mark, message id and event id (docs/clients.md). A file is deleted 92 days after its month.
//
// Lines are only appended, each is on disk before the caller gets the message, and of two lines for one nonce the first counts,
// so several programs may share the folder.
type Nonces struct {
	folder string

	mu       sync.Mutex
	months   map[string]*journal
	openings map[string]opening // by mark
}

// OpenNonces makes the folder if it does not exist, and deletes the files that are too old.
func OpenNonces(folder string) (*Nonces, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	n := &Nonces{folder: folder, months: make(map[string]*journal), openings: make(map[string]opening)}
	return n, n.each(func(string) error { return nil })
}

// Claim records that the message with that id is opened. eventID is the event that brought it, empty for a message from a list.
// It returns ErrReplayed if its nonce was opened as another message or by another event. peerKey is the other side's key. sealed
// is when a bound message was sealed, the zero time for an unbound one; if it is in the future, the nonce is kept longer.
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
	name := slices.MaxFunc([]time.Time{time.Now(), sealed}, time.Time.Compare).UTC().Format("2006-01")
	file := journal{path: filepath.Join(n.folder, name)}
	if err := file.append([]byte(mark + " " + wanted.message + " " + wanted.event)); err != nil {
		return err
	}
	known, err := n.compare(mark, wanted) // another program may have claimed the nonce meanwhile
	if err == nil && !known {
		err = fmt.Errorf("%s does not keep its writes", n.folder)
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

// compare reports whether a nonce is recorded for the wanted opening.
func (n *Nonces) compare(mark string, wanted opening) (known bool, err error) {
	if err := n.each(n.follow); err != nil {
		return false, err
	}
	first, found := n.openings[mark]
	if found && (first.message != wanted.message || wanted.event != noEvent && first.event != noEvent && first.event != wanted.event) {
		return false, ErrReplayed
	}
	return found && (wanted.event == noEvent || first.event == wanted.event), nil
}

// each calls use with the names of the files, and deletes those whose months ended over 92 days ago, which come first.
func (n *Nonces) each(use func(name string) error) error {
	entries, err := os.ReadDir(n.folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		began, err := time.Parse("2006-01", name)
		switch {
		case err != nil: // not ours
			continue
		case time.Now().Before(began.AddDate(0, 1, 0).Add(noncesKept)):
			err = use(name)
		default:
			clear(n.months)
			clear(n.openings)
			err = os.Remove(filepath.Join(n.folder, name))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another program may have deleted it
			return err
		}
	}
	return nil
}

// follow reads the lines that any program has appended to a file. If the file was replaced by hand, known openings stay known.
func (n *Nonces) follow(name string) error {
	if n.months[name] == nil {
		n.months[name] = &journal{path: filepath.Join(n.folder, name)}
	}
	return n.months[name].follow(nil, func(line []byte) {
		mark, read, ok := parseOpening(string(line))
		first, found := n.openings[mark]
		if ok && (!found || first.message == read.message && first.event == noEvent) { // the first message counts, and the first event
			n.openings[mark] = read
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
	event := noEvent
	if err == nil && parts[2] != noEvent {
		event, err = canonicalID(parts[2])
	}
	return parts[0], opening{message, event}, err == nil
}
