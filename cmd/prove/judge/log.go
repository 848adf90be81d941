package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/cmd/prove/history"
	"stoa/rest/client/keylog"
)

// keyLog is the key log of the end with what it is checked with.
type keyLog struct {
	host     string
	verifier note.Verifier
	entries  []keylog.Entry
	hashes   []tlog.Hash
	// raw are the entries as they were read, former the logs of earlier epochs.
	raw    [][]byte
	former map[string]*keyLog
}

// read returns stored hashes of the log.
func (l *keyLog) read(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(l.hashes)) {
			return nil, errors.New("no such hash")
		}
		found[i] = l.hashes[index]
	}
	return found, nil
}

// newKeyLog reads the log.
func newKeyLog(read history.Log) (*keyLog, error) {
	var keys struct {
		Log struct {
			Origin string   `json:"origin"`
			VKeys  []string `json:"vkeys"`
		} `json:"log"`
	}
	if err := json.Unmarshal(read.Keys, &keys); err != nil {
		return nil, err
	}
	if len(keys.Log.VKeys) == 0 {
		return nil, errors.New("the server names no key of it")
	}
	l := new(keyLog)
	var err error
	if l.host, _, err = keylog.HostOf(keys.Log.Origin); err != nil {
		return nil, err
	}
	if l.verifier, err = keylog.ParseLogKey(keys.Log.VKeys[0]); err != nil {
		return nil, err
	}
	return l, l.add(read.Entries)
}

// add adds entries.
func (l *keyLog) add(all [][]byte) error {
	l.raw = append(l.raw, all...)
	for i, raw := range all {
		entry, err := keylog.ParseEntry(raw)
		if err != nil {
			return err
		}
		hashes, err := tlog.StoredHashes(int64(i), raw, tlog.HashReaderFunc(l.read))
		if err != nil {
			return err
		}
		l.entries, l.hashes = append(l.entries, entry), append(l.hashes, hashes...)
	}
	return nil
}

// checkKeyLog judges the heads that were read during the run by the log of the end, and looks for the entry of every agent (§12.2).
func checkKeyLog(r *run, f *Finding) {
	if r.Final.Log.Keys == nil {
		return // the run ended before it was read
	}
	l, err := newKeyLog(r.Final.Log)
	if err != nil {
		f.violatedf("the key log cannot be read: %v", err)
		return
	}
	l.checkHeads(r, f)
	l.checkRegistrations(r, f)
	for _, handle := range sorted(r.Final.Log.Cards) {
		f.Looked++
		if err := l.checkProof(r.Final.Log.Cards[handle], r.Final.Log.Proofs[handle]); err != nil {
			f.violatedf("the entry of %s: %v", handle, err)
		}
	}
}

// checkHeads judges that all heads are beginnings of the log, and that it never shrank between an answer and a later request.
func (l *keyLog) checkHeads(r *run, f *Finding) {
	type head struct {
		a      *history.Attempt
		origin string
		size   int64
	}
	var heads []head
	for _, a := range r.answered(history.LogCheckpoint) {
		f.Looked++
		text, ok := decode[string](f, a)
		if !ok {
			continue
		}
		shown, err := l.of(*text)
		var signed keylog.Witnessed
		if err == nil {
			signed, err = keylog.Open([]byte(*text), shown.verifier)
		}
		if err != nil {
			f.violatedf("%s: %v", Describe(a), err)
			continue
		}
		if root, err := shown.root(signed.Size); err != nil || root != signed.Root {
			f.violatedf("%s has a head of %d entries, which is no beginning of the log of %d", Describe(a), signed.Size, len(shown.entries))
		}
		heads = append(heads, head{a, signed.Origin, signed.Size})
	}
	slices.SortFunc(heads, func(a, b head) int { return int(a.a.Start - b.a.Start) })
	for i, later := range heads {
		for _, earlier := range heads[:i] {
			if earlier.a.End < later.a.Start && earlier.size > later.size && earlier.origin == later.origin {
				f.violatedf("%s has %d entries, and %s had %d", Describe(later.a), later.size, Describe(earlier.a), earlier.size)
				break
			}
		}
	}
}

// root is the root of the first entries.
func (l *keyLog) root(size int64) (tlog.Hash, error) {
	if size > int64(len(l.entries)) {
		return tlog.Hash{}, errors.New("the log has fewer entries")
	}
	return tlog.TreeHash(size, tlog.HashReaderFunc(l.read))
}

// checkRegistrations counts the entries of agents: one for each registration that was answered, and no others.
func (l *keyLog) checkRegistrations(r *run, f *Finding) {
	labels := make(map[[32]byte]int)
	all := 0
	for _, entry := range l.entries {
		if entry.Type == keylog.TypeAgent {
			labels[entry.Label]++
			all++
		}
	}
	answered, may := make(map[string]bool), make(map[string]bool)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Operation == history.Register || strings.HasPrefix(a.Operation, "burst.register") {
			answered[a.Subject] = answered[a.Subject] || a.Succeeded()
			may[a.Subject] = may[a.Subject] || mayHaveActed(a)
		}
	}
	for _, handle := range sorted(may) {
		f.Looked++
		n := labels[keylog.AgentLabel(l.host, handle)]
		all -= n
		if n > 1 || n == 0 && answered[handle] || n > 0 && !may[handle] {
			f.violatedf("%s has %d entries in the key log", handle, n)
		}
	}
	if all != 0 {
		f.violatedf("the key log has %d entries of agents that did not register", all)
	}
}

// checkProof verifies that an agent's record opens its entry, and that the proof shows that in the log.
func (l *keyLog) checkProof(card json.RawMessage, proof string) error {
	var own struct {
		Bot struct {
			ID        string `json:"id"`
			Handle    string `json:"handle"`
			Key       string `json:"encryption_public_key"`
			CreatedAt string `json:"created_at"`
			KeyLog    struct {
				Index *int64 `json:"index"`
				Salt  []byte `json:"salt"`
			} `json:"key_log"`
		} `json:"bot"`
	}
	if err := json.Unmarshal(card, &own); err != nil {
		return err
	}
	if own.Bot.KeyLog.Index == nil {
		return errors.New("the record names none")
	}
	p, err := keylog.ParseProof([]byte(proof))
	if err != nil {
		return err
	}
	if p.Index != *own.Bot.KeyLog.Index {
		return fmt.Errorf("the proof is of entry %d, the record names %d", p.Index, *own.Bot.KeyLog.Index)
	}
	agent := keylog.Agent{ID: own.Bot.ID, Handle: own.Bot.Handle, Key: own.Bot.Key, CreatedAt: own.Bot.CreatedAt}
	head, err := p.Check(agent.Entry(l.host, own.Bot.KeyLog.Salt), l.verifier)
	if err != nil {
		return err
	}
	if root, err := l.root(head.Size); err == nil && root != head.Root {
		return errors.New("the proof is of another log")
	}
	return nil
}

// of returns the log of the epoch that a head names. Each end of an epoch has put one entry before those that were left, which names
// the former root; so an earlier epoch's log stands behind these.
func (l *keyLog) of(head string) (*keyLog, error) {
	origin, _, _ := strings.Cut(head, "\n")
	if origin == l.verifier.Name() {
		return l, nil
	}
	if known := l.former[origin]; known != nil {
		return known, nil
	}
	host, epoch, err := keylog.HostOf(origin)
	if err != nil {
		return nil, err
	}
	_, present, err := keylog.HostOf(l.verifier.Name())
	if err != nil {
		return nil, err
	}
	ended := present - epoch
	if host != l.host || ended < 1 || ended > len(l.raw) {
		return nil, fmt.Errorf("its log is %s, and the log of the end %s", origin, l.verifier.Name())
	}
	if l.entries[ended-1].Type != keylog.TypeEpoch {
		return nil, errors.New("the log of the end names no former epoch")
	}
	former := &keyLog{host: l.host}
	if former.verifier, err = keylog.ParseLogKey(keylog.LogKey(origin, keylog.Public(l.verifier))); err != nil {
		return nil, err
	}
	if l.former == nil {
		l.former = make(map[string]*keyLog)
	}
	l.former[origin] = former
	return former, former.add(l.raw[ended:])
}
