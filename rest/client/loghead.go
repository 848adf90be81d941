package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/keylog"
)

// maxSteps bounds how many proofs one check asks for, while the log grows between them.
const maxSteps = 50

// advance returns a head of the log that continues all that are kept and all that were found just now.
func (l *KeyLog) advance(ctx context.Context, v *logView, found ...keylog.Witnessed) (newest keylog.Witnessed, err error) {
	pending := append([]keylog.Witnessed(nil), found...)
	for _, head := range v.kept.open {
		pending = append(pending, head.witnessed())
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

// keep keeps a head that continues all that were kept.
func (l *KeyLog) keep(head Head, v *logView) (err error) {
	if err = l.trust.keep(head, v.kept); err == nil {
		v.kept, err = l.trust.log()
	}
	return err
}

// checkpoint reads the present head.
func (l *KeyLog) checkpoint(ctx context.Context, v *logView) (keylog.Witnessed, error) {
	signed, found, err := l.read(ctx, v, "checkpoint")
	if err != nil {
		return keylog.Witnessed{}, err
	}
	if !found {
		return keylog.Witnessed{}, l.unsigned(v, nil, "its log has no checkpoint")
	}
	return l.open(v, signed)
}

// open checks the signatures of a checkpoint.
func (l *KeyLog) open(v *logView, signed []byte) (keylog.Witnessed, error) {
	head, err := keylog.Open(signed, v.key, l.witnesses...)
	if err != nil {
		return head, l.unsigned(v, signed, err.Error())
	}
	return head, nil
}

// unsigned is ErrLogForked for a log that was seen before, ErrUnproven for a new one.
func (l *KeyLog) unsigned(v *logView, served []byte, why string) error {
	if v.kept.origin == "" {
		return unproven("%s", why)
	}
	return l.forked(v.kept.newest(), served, why)
}

// continued reads the present head with the proof that it continues an older one.
func (l *KeyLog) continued(ctx context.Context, v *logView, older keylog.Witnessed) (keylog.Witnessed, error) {
	if older.Size == 0 {
		return l.checkpoint(ctx, v)
	}
	body, found, err := l.read(ctx, v, "consistency?old="+strconv.FormatInt(older.Size, 10))
	if err != nil {
		return keylog.Witnessed{}, err
	}
	if !found { // the head is smaller, or denied
		head, err := l.checkpoint(ctx, v)
		if err == nil {
			err = l.forked(headOf(older, v.vkey), head.Note, fmt.Sprintf("it had %d entries, and now says %d", older.Size, head.Size))
		}
		return head, err
	}
	var proof struct {
		Hashes     []string `json:"hashes"`
		Checkpoint string   `json:"checkpoint"`
	}
	if err := json.Unmarshal(body, &proof); err != nil {
		return keylog.Witnessed{}, fmt.Errorf("the proof of consistency: %w", err)
	}
	head, err := l.open(v, []byte(proof.Checkpoint))
	if err != nil {
		return head, err
	}
	hashes, err := keylog.ParseHashes(proof.Hashes)
	if err == nil {
		err = keylog.CheckConsistent(older.Checkpoint, head.Checkpoint, hashes)
	}
	if err != nil {
		return head, l.forked(headOf(older, v.vkey), head.Note, fmt.Sprintf("its head of %d entries does not continue that of %d",
			head.Size, older.Size))
	}
	return head, nil
}

// include checks that an entry has that index, in a tree that continues the kept ones. found is false if the index is beyond the head.
// by is the greatest number of known witnesses that have signed a head which has the entry.
func (l *KeyLog) include(ctx context.Context, v *logView, index int64, entry keylog.Entry) (
	newest keylog.Witnessed, by int, found bool, err error,
) {
	body, found, err := l.read(ctx, v, "proof/"+strconv.FormatInt(index, 10))
	if !found || err != nil {
		return newest, 0, found, err
	}
	proof, err := keylog.ParseProof(body)
	if err == nil && proof.Index != index {
		err = keylog.ErrNotIncluded
	}
	if err != nil {
		return newest, 0, true, unproven("%s", err)
	}
	head, err := proof.Check(entry, v.key, l.witnesses...)
	switch {
	case errors.Is(err, keylog.ErrUnsigned), isInvalid(err):
		return newest, 0, true, l.unsigned(v, proof.Checkpoint, err.Error())
	case err != nil:
		return newest, 0, true, unproven("%s", err)
	}
	newest, err = l.advance(ctx, v, head)
	return newest, max(len(head.By), len(newest.By)), true, err
}

func isInvalid(err error) bool {
	_, invalid := errors.AsType[*note.InvalidSignatureError](err)
	return invalid
}
