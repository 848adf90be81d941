package keylog

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"stoa/graph/platform/db"
)

// Name names the present log: its origin, and the hash of its present key in hex, as the log's vkey has both. A log that has not begun
// has the name with which it will begin.
func (a *API) Name(ctx context.Context, q db.Querier) (name, keyHash string, err error) {
	head, err := present(ctx, q)
	switch {
	case errors.Is(err, errNotBegun):
		head.Origin = origin(hostname(a.Origin), 1)
	case err != nil:
		return "", "", err
	}
	key, err := a.SigningKey(ctx, q, PurposeLog)
	if err != nil {
		return "", "", err
	}
	s, err := newSigner(head.Origin, key)
	if err != nil {
		return "", "", err
	}
	return head.Origin, fmt.Sprintf("%08x", s.KeyHash()), nil
}

// SigningKey returns the present key of a purpose.
func (a *API) SigningKey(ctx context.Context, q db.Querier, purpose string) (ed25519.PrivateKey, error) {
	numbers, err := db.Column[int](ctx, q, named("present_key"), purpose)
	if err != nil {
		return nil, err
	}
	if len(numbers) != 1 {
		return nil, fmt.Errorf("keylog: %d present keys for %q", len(numbers), purpose)
	}
	return a.PrivateKey(purpose, numbers[0]), nil
}

// Proofs returns the proofs that entries are in the present log, as files of C2SP's tlog-proof. It returns none while the log's head is
// not signed (ErrBehind, ErrForked), and none above the head.
func (a *API) Proofs(ctx context.Context, indexes []int64) (proofs map[int64]string, err error) {
	proofs = make(map[int64]string)
	if len(indexes) == 0 {
		return proofs, nil
	}
	err = atHead(ctx, a.DB.SQL, func(head Head) error {
		made, err := a.provenBy(ctx, a.DB.SQL, head)
		if err != nil {
			return err
		}
		for _, index := range indexes {
			if index >= head.Size {
				continue
			}
			proof, err := made.include(index)
			if err != nil {
				return err
			}
			proofs[index] = string(proof)
		}
		return nil
	})
	if unsigned(err) {
		return make(map[int64]string), nil
	}
	return proofs, err
}

// KeyIndex returns the index of a key's entry in the present log, nil until the log has it.
func (a *API) KeyIndex(ctx context.Context, purpose string, number int) (*int64, error) {
	found, err := db.Column[int64](ctx, a.DB.SQL, named("index_of"), subjectOf(a.keyEntry(purpose, number)))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// PresentCheckpoint returns the signed head of the present log, nil while it is not signed.
func (a *API) PresentCheckpoint(ctx context.Context) (signed []byte, err error) {
	err = atHead(ctx, a.DB.SQL, func(head Head) (err error) {
		signed, err = a.sign(ctx, a.DB.SQL, head)
		return err
	})
	if unsigned(err) {
		return nil, nil
	}
	return signed, err
}

// unsigned reports whether an error says that the present head is not signed. The metrics say why.
func unsigned(err error) bool {
	return errors.Is(err, ErrBehind) || errors.Is(err, ErrForked) || errors.Is(err, errNotBegun)
}
