package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ErrKeyChanged means that the server names a key, id or handle for an agent that differs from the pinned one. An agent's key
// never changes (§2.1), so the server, or a proxy before it, may be reading the messages.
var ErrKeyChanged = errors.New("the agent's key is not the pinned one")

// Pin is the key by which this agent knows another one.
type Pin struct {
	ID string `json:"id"`
	// Handle is empty until the server has named one beside the key.
	Handle string `json:"handle,omitempty"`
	// Key is the public key in base64.
	Key string `json:"key,omitempty"`
	// Via is the evidence for the key: one of the constants that begin with Via.
	Via string `json:"via,omitempty"`
	// Index is the index of the agent's entry in the key log, nil unless the log proves the key.
	Index *int64 `json:"index,omitempty"`
	// At is when the agent was first pinned, the zero time for an agent that is not pinned.
	At time.Time `json:"at,omitzero"`
	// Removed marks a line that removes the agent's pin.
	Removed bool `json:"removed,omitempty"`
}

// Values of Pin.Via: the evidence for a pinned key.
const (
	ViaFirstUse    = "tofu"        // none: trust on first use of the key that the server named
	ViaLog         = "log"         // the key log
	ViaFingerprint = "fingerprint" // a person, who compared it with the agent's fingerprint from another channel
)

// evidence ranks the values of Via; a higher one replaces a lower one.
var evidence = map[string]int{ViaLog: 1, ViaFingerprint: 2}

// Trust stores the pinned keys of other agents and the heads of the server's key log. Its file has mode 0600 and one Pin or Head
// as JSON a line. Lines are only appended, and of two pins of one agent or one handle the first counts, so several programs may
// share the file.
type Trust struct {
	mu   sync.Mutex
	file journal
	// pins by id, and ids by handle.
	pins    map[string]Pin
	handles map[string]string
	// heads of the current log, in the order of the file.
	heads []Head
	// vkey is the current key of the log.
	vkey string
}

// OpenTrust opens the file, or makes it.
func OpenTrust(path string) (*Trust, error) {
	t := &Trust{file: journal{path: path}}
	return t, t.file.append(nil)
}

// Check pins the key of an agent at its first use. It returns ErrKeyChanged if the agent or the handle is pinned with another
// key. A deleted agent, which has no key, changes nothing. It does not check the key log: see Agent.Meet.
func (t *Trust) Check(agent Brief) error {
	if agent.Key == nil {
		return nil
	}
	return t.pin(firstUse(agent))
}

// firstUse is the pin of an agent that has a key, without evidence.
func firstUse(agent Brief) Pin {
	return Pin{ID: strings.ToLower(agent.ID), Handle: agent.Handle, Key: *agent.Key, Via: ViaFirstUse}
}

// knows reports whether an agent is pinned with this key, perhaps without its handle, or was deleted. It returns ErrKeyChanged as Check
// does.
func (t *Trust) knows(agent Brief) (bool, error) {
	if agent.Key == nil {
		return true, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pin, err := t.compare(agent)
	return pin.ID != "", err
}

// pin pins an agent, or adds better evidence to its pin.
func (t *Trust) pin(made Pin) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	agent := Brief{ID: made.ID, Handle: made.Handle, Key: &made.Key}
	known, err := t.compare(agent)
	if err != nil || known.covers(made) && evidence[made.Via] <= evidence[known.Via] {
		return err
	}
	if err := t.add(made); err != nil {
		return err
	}
	if known, err = t.compare(agent); err == nil && !known.covers(made) { // another program may have pinned another key meanwhile
		err = t.notKept()
	}
	return err
}

func (t *Trust) notKept() error {
	return fmt.Errorf("%s does not keep its writes", t.file.path)
}

// covers reports whether a pin has the id of another one, and its handle if that has one.
func (p Pin) covers(other Pin) bool {
	return p.ID == other.ID && (other.Handle == "" || p.Handle == other.Handle)
}

// compare returns the pin of an agent that has a key, the zero Pin if it has none. The caller holds the lock.
func (t *Trust) compare(agent Brief) (Pin, error) {
	if err := t.load(); err != nil {
		return Pin{}, err
	}
	id := strings.ToLower(agent.ID)
	if holder, taken := t.handles[agent.Handle]; taken && holder != id {
		return Pin{}, keyChanged(t.pins[holder], agent)
	}
	pin, found := t.pins[id]
	if found && (pin.Key != *agent.Key || pin.Handle != "" && agent.Handle != "" && pin.Handle != agent.Handle) {
		return Pin{}, keyChanged(pin, agent)
	}
	return pin, nil
}

// keyChanged returns ErrKeyChanged as a *Fault, with the server's code for a wrong key.
func keyChanged(pinned Pin, agent Brief) error {
	name := pinned.ID
	if pinned.Handle != "" {
		name = "@" + pinned.Handle
	}
	before, _ := Fingerprint(pinned.Key) // it was in use
	now, err := Fingerprint(*agent.Key)
	if err != nil {
		now = "no key"
	}
	if pinned.Key == *agent.Key {
		now = fmt.Sprintf("the same key under the id %s and the handle @%s", agent.ID, agent.Handle)
	}
	return refuse(ErrKeyChanged, http.StatusConflict, "key_changed", "the server now names %s for %s, which is known by %s since %s. "+
		"An agent's key never changes, so someone may be reading along; nothing was sent or opened. Ask for the fingerprint over another "+
		"channel. Only if the new one is right: stoa agent unpin %s (Trust.Unpin)", now, name, before, pinned.At.Format(time.DateOnly), name)
}

// Pins are the agents that are pinned, by id.
func (t *Trust) Pins() (map[string]Pin, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.load()
	return maps.Clone(t.pins), err
}

// Unpin removes the pin of an agent, by id or handle. Its next use pins the key that the server names then.
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

func (t *Trust) load() error {
	return t.file.follow(func() {
		t.pins, t.handles, t.heads, t.vkey = make(map[string]Pin), make(map[string]string), nil, ""
	}, func(text []byte) {
		var line struct {
			Pin

			Log *Head `json:"log"`
		}
		switch { // a line that a crash has cut is ignored
		case json.Unmarshal(text, &line) != nil:
		case line.Log != nil:
			t.foldHead(*line.Log)
		case line.ID != "":
			t.fold(line.Pin)
		}
	})
}

func (t *Trust) fold(line Pin) {
	pinned, found := t.pins[line.ID]
	switch _, taken := t.handles[line.Handle]; {
	case line.Removed:
		delete(t.pins, line.ID)
		delete(t.handles, pinned.Handle)
		return
	case found && pinned.Key == line.Key && pinned.Handle == line.Handle:
		if evidence[line.Via] > evidence[pinned.Via] {
			pinned.Via, pinned.Index = line.Via, cmp.Or(line.Index, pinned.Index)
			t.pins[line.ID] = pinned
		}
		return
	case taken || found && (pinned.Handle != "" || pinned.Key != line.Key):
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

func (t *Trust) add(line Pin) error {
	line.At = time.Now().UTC().Truncate(time.Second)
	return t.append(line)
}

func (t *Trust) append(line any) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := t.file.append(raw); err != nil {
		return err
	}
	return t.load()
}
