package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
)

// Head is a head of the server's key log (§12.2) that was checked.
type Head struct {
	keylog.Witnessed

	// Vkey is the key of the log under which the head was checked.
	Vkey string `json:"vkey"`
	// Over is the number of earlier heads in the file that this head is proven to continue.
	Over int `json:"over"`
	// Accepted is set if the log has a new key from this head on, or was restarted with it.
	Accepted string `json:"accepted,omitempty"`
}

// Values of Head.Accepted.
const (
	acceptedRotation = "rotation"
	acceptedEpoch    = "epoch"
)

type keptLog struct {
	// origin is empty if no head was ever kept.
	origin, vkey string
	// rotated reports whether the key is not the first one that was kept.
	rotated bool
	// open lists the heads that the next head must be proven to continue: the newest, and heads that several programs kept at once.
	open  []Head
	count int
}

func (k keptLog) newest() Head {
	return slices.MaxFunc(k.open, func(a, b Head) int { return int(a.Size - b.Size) })
}

// Log returns the newest head of the key log that is kept, false if no head was kept yet.
func (t *Trust) Log() (Head, bool, error) {
	kept, err := t.log()
	if err != nil || kept.origin == "" {
		return Head{}, false, err
	}
	newest := kept.newest()
	newest.Vkey = kept.vkey
	return newest, true, nil
}

func (t *Trust) log() (keptLog, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil || len(t.heads) == 0 {
		return keptLog{}, err
	}
	first, last := t.heads[0], len(t.heads)-1
	over := min(max(t.heads[last].Over, 0), last)
	return keptLog{first.Origin, t.vkey, t.vkey != first.Vkey, slices.Clone(t.heads[over:]), len(t.heads)}, nil
}

// foldHead adds a head to the heads of the earlier lines. A line of another log counts only if a person has accepted it.
func (t *Trust) foldHead(line Head) {
	switch {
	case line.Root == (tlog.Hash{}):
	case len(t.heads) == 0 || line.Accepted == acceptedEpoch:
		t.heads, t.vkey = []Head{line}, line.Vkey
	case line.Origin == t.heads[0].Origin:
		if line.Accepted == acceptedRotation {
			t.vkey = line.Vkey
		}
		t.heads = append(t.heads, line)
	}
}

// keep appends a head that continues all heads kept when the view was made, unless nothing has changed. accepted is set if the view's
// key counts from this head on.
func (l *KeyLog) keep(v *logView, found keylog.Witnessed, accepted string) (err error) {
	open := v.kept.open
	if accepted == "" && len(open) == 1 && open[0].Checkpoint == found.Checkpoint {
		return nil
	}
	head := Head{found, v.vkey, v.kept.count, accepted}
	if accepted == acceptedEpoch {
		head.Over = 0
	}
	if err = l.trust.keep(head); err == nil {
		v.kept, err = l.trust.log()
	}
	return err
}

func (t *Trust) keep(head Head) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.append(map[string]any{"log": head, "at": time.Now().UTC().Truncate(time.Second)})
	if err == nil && !slices.ContainsFunc(t.heads, func(h Head) bool { return h.Note == head.Note && h.Origin == head.Origin }) {
		err = errors.Join(t.notKept(), errors.New("another program has kept the head of another log"))
	}
	return err
}

// maxSteps is the most proofs that one check asks for while the log grows.
const maxSteps = 50

// advance returns a head of the log that continues all kept heads and all found ones.
func (l *KeyLog) advance(ctx context.Context, v *logView, found ...keylog.Witnessed) (newest keylog.Witnessed, err error) {
	pending := slices.Clone(found)
	for _, head := range v.kept.open {
		pending = append(pending, head.Witnessed)
	}
	if len(found) > 0 {
		newest, pending = pending[0], pending[1:]
	} else if newest, err = l.checkpoint(ctx, v); err != nil {
		return newest, err
	}
	for step := 0; len(pending) > 0; step++ {
		older := pending[0]
		pending = pending[1:]
		if older.Checkpoint == newest.Checkpoint {
			continue
		}
		if step == maxSteps {
			return newest, errors.New("the key log grows faster than its proofs can be read")
		}
		next, err := l.continued(ctx, v, older)
		if err != nil {
			return newest, err
		}
		switch {
		case next.Checkpoint == newest.Checkpoint:
		case next.Size < newest.Size:
			pending = append(pending, next)
		default:
			pending, newest = append(pending, newest), next
		}
	}
	return newest, nil
}

func (l *KeyLog) checkpoint(ctx context.Context, v *logView) (keylog.Witnessed, error) {
	signed, err := l.read(ctx, v, "checkpoint")
	if err != nil && !errors.Is(err, errAbsent) {
		return keylog.Witnessed{}, err
	}
	return l.open(v, signed)
}

// open checks a head. A false one is ErrLogForked for a log that was seen before, ErrUnproven for a new one.
func (l *KeyLog) open(v *logView, signed []byte) (keylog.Witnessed, error) {
	head, err := keylog.Open(signed, v.key, l.witnesses...)
	switch {
	case err == nil:
	case v.kept.origin == "":
		err = unproven("%s", err)
	default:
		err = l.forked(v.kept.newest().Note, string(signed), err.Error())
	}
	return head, err
}

// continued reads the current head with the proof that it continues an older one.
func (l *KeyLog) continued(ctx context.Context, v *logView, older keylog.Witnessed) (head keylog.Witnessed, err error) {
	if older.Size == 0 {
		return l.checkpoint(ctx, v)
	}
	body, err := l.read(ctx, v, "consistency?old="+strconv.FormatInt(older.Size, 10))
	if errors.Is(err, errAbsent) { // the head is smaller, or denied
		if head, err = l.checkpoint(ctx, v); err == nil {
			err = l.forked(older.Note, head.Note, fmt.Sprintf("it had %d entries, and now says %d", older.Size, head.Size))
		}
	}
	if err != nil {
		return head, err
	}
	var proof struct {
		Hashes     []string `json:"hashes"`
		Checkpoint string   `json:"checkpoint"`
	}
	if err := json.Unmarshal(body, &proof); err != nil {
		return head, fmt.Errorf("the proof of consistency: %w", err)
	}
	if head, err = l.open(v, []byte(proof.Checkpoint)); err != nil {
		return head, err
	}
	hashes, err := keylog.ParseHashes(proof.Hashes)
	if err == nil {
		err = keylog.CheckConsistent(older.Checkpoint, head.Checkpoint, hashes)
	}
	if err != nil {
		err = l.forked(older.Note, head.Note, fmt.Sprintf("its head of %d entries does not continue the head of %d", head.Size, older.Size))
	}
	return head, err
}

// proof reads the proof of an entry and its head. It returns laterError if the index is beyond the head.
func (l *KeyLog) proof(ctx context.Context, v *logView, index int64) (proof keylog.Proof, head keylog.Witnessed, err error) {
	body, err := l.read(ctx, v, "proof/"+strconv.FormatInt(index, 10))
	if errors.Is(err, errAbsent) {
		err = laterError{fmt.Sprintf("the key log has no entry %d", index)}
	}
	if err != nil {
		return proof, head, err
	}
	if proof, err = keylog.ParseProof(body); err != nil {
		return proof, head, unproven("%s", err)
	}
	head, err = l.open(v, proof.Checkpoint)
	return proof, head, err
}

// include checks that an entry has that index in a tree that continues the kept heads. It returns laterError if the index is
// beyond the head. by is the greatest number of known witnesses that signed one head with the entry.
func (l *KeyLog) include(ctx context.Context, v *logView, index int64, entry keylog.Entry) (newest keylog.Witnessed, by int, err error) {
	proof, head, err := l.proof(ctx, v, index)
	if err == nil && (proof.Index != index || keylog.CheckIncluded(head.Checkpoint, index, entry, proof.Hashes) != nil) {
		err = unproven("%s", keylog.ErrNotIncluded)
	}
	if err != nil {
		return newest, 0, err
	}
	newest, err = l.advance(ctx, v, head)
	return newest, max(len(head.By), len(newest.By)), err
}
