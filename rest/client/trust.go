package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrKeyChanged says that the server names another key, id or handle for an agent than the one that was pinned. An agent's key
// never changes (§2.1), so the server, or a proxy before it, may be reading along.
var ErrKeyChanged = errors.New("the agent's key is not the pinned one")

// Pin is the key by which this agent knows another one.
type Pin struct {
	ID string `json:"id"`
	// Handle is empty until the server has named one beside the key.
	Handle string `json:"handle,omitempty"`
	// Key is the public key in base64.
	Key string `json:"key,omitempty"`
	// Via says what vouches for the key: tofu, trust on first use.
	Via string `json:"via,omitempty"`
	// At is when the line was written.
	At time.Time `json:"at"`
	// Removed marks a line that takes the agent's pin back.
	Removed bool `json:"removed,omitempty"`
}

// Trust keeps the keys of other agents from their first use on, in a file of mode 0600 with one Pin as JSON a line. Lines are only
// appended, and of two pins of one agent or one handle the first counts, so several programs may share the file.
type Trust struct {
	path string

	mu sync.Mutex
	// read describes the file at the moment when pins were read from it.
	read os.FileInfo
	// pins by id, and the ids of their handles.
	pins    map[string]Pin
	handles map[string]string
}

// OpenTrust opens the file, or makes it.
func OpenTrust(path string) (*Trust, error) {
	t := &Trust{path: path}
	return t, t.append(nil)
}

// Check pins the key of an agent at its first use, and returns ErrKeyChanged if the agent, or the handle, is known by another key.
// A deleted agent, which has no key, changes nothing.
func (t *Trust) Check(agent Brief) error {
	if agent.Key == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, err := t.compare(agent)
	if known || err != nil {
		return err
	}
	if err := t.add(Pin{ID: strings.ToLower(agent.ID), Handle: agent.Handle, Key: *agent.Key, Via: "tofu"}); err != nil {
		return err
	}
	if known, err = t.compare(agent); err == nil && !known { // another program may have pinned something else meanwhile
		err = fmt.Errorf("%s does not keep what is written to it", t.path)
	}
	return err
}

// Compare is Check without pinning.
func (t *Trust) Compare(agent Brief) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.compare(agent)
	return err
}

// compare reports whether the agent is pinned with this key and handle.
func (t *Trust) compare(agent Brief) (known bool, err error) {
	if agent.Key == nil {
		return true, nil
	}
	if err := t.load(); err != nil {
		return false, err
	}
	id := strings.ToLower(agent.ID)
	if holder, taken := t.handles[agent.Handle]; taken && holder != id {
		return false, keyChanged(t.pins[holder], agent)
	}
	pinned, found := t.pins[id]
	if !found {
		return false, nil
	}
	if pinned.Key != *agent.Key || pinned.Handle != "" && agent.Handle != "" && pinned.Handle != agent.Handle {
		return false, keyChanged(pinned, agent)
	}
	return pinned.Handle != "" || agent.Handle == "", nil
}

// keyChanged is a *Fault as well, with the code that the server has for a wrong key.
func keyChanged(pinned Pin, agent Brief) error {
	name := pinned.ID
	if pinned.Handle != "" {
		name = "@" + pinned.Handle
	}
	before, _ := Fingerprint(pinned.Key) // it was in use
	now, err := Fingerprint(*agent.Key)
	if err != nil {
		now = "what is no key"
	}
	if pinned.Key == *agent.Key {
		now = fmt.Sprintf("the same key under the id %s and the handle @%s", agent.ID, agent.Handle)
	}
	return refuse(ErrKeyChanged, http.StatusConflict, "key_changed", "the server now names %s for %s, which is known by %s since %s. "+
		"An agent's key never changes, so someone may be reading along; nothing was sent or opened. Ask for the fingerprint over another "+
		"channel. Only if the new one is right: stoa agent unpin %s", now, name, before, pinned.At.Format(time.DateOnly), name)
}

// Pins are the agents that are pinned, by id.
func (t *Trust) Pins() (map[string]Pin, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = nil
	err := t.load()
	return t.pins, err
}

// Unpin forgets the pin of an agent, by id or handle, so that its next use pins the key that the server names then.
func (t *Trust) Unpin(idOrHandle string) (Pin, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil {
		return Pin{}, err
	}
	name := handleOf(idOrHandle)
	pinned, found := t.pins[name]
	if !found {
		pinned, found = t.pins[t.handles[name]]
	}
	if !found {
		return Pin{}, fmt.Errorf("no key of %s is pinned", idOrHandle)
	}
	return pinned, t.add(Pin{ID: pinned.ID, Removed: true})
}

// load reads the file, unless it is as it was.
func (t *Trust) load() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	if t.read != nil && os.SameFile(info, t.read) && info.Size() == t.read.Size() && info.ModTime().Equal(t.read.ModTime()) {
		return nil
	}
	raw, err := os.ReadFile(t.path)
	if err != nil {
		return err
	}
	t.pins, t.handles = make(map[string]Pin), make(map[string]string)
	for line := range bytes.Lines(raw) {
		var pin Pin
		if json.Unmarshal(line, &pin) == nil { // what a crash has cut is no line
			t.fold(pin)
		}
	}
	t.read = info
	return nil
}

// fold applies a line to what the lines before it say.
func (t *Trust) fold(line Pin) {
	pinned, found := t.pins[line.ID]
	if line.Removed {
		delete(t.pins, line.ID)
		delete(t.handles, pinned.Handle)
		return
	}
	if _, taken := t.handles[line.Handle]; taken || found && (pinned.Handle != "" || pinned.Key != line.Key) {
		return
	}
	if found {
		line.At = pinned.At
	}
	t.pins[line.ID] = line
	if line.Handle != "" {
		t.handles[line.Handle] = line.ID
	}
}

// add appends a line and reads the file again.
func (t *Trust) add(line Pin) error {
	line.At = time.Now().UTC().Truncate(time.Second)
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := t.append(append(raw, '\n')); err != nil {
		return err
	}
	t.read = nil
	return t.load()
}

// append writes a line in one piece, after what a crash may have cut, and has it on disk when it returns.
func (t *Trust) append(line []byte) (err error) {
	_, missing := os.Stat(t.path)
	file, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if errors.Is(missing, fs.ErrNotExist) {
		if err := syncFolderOf(t.path); err != nil {
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
	if _, err := file.Write(line); err != nil {
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
