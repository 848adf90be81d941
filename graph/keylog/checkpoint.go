package keylog

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/lib/pq"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	format "stoa/rest/client/keylog"
)

// Checkpoint returns the signed head of the present epoch, with the lines of the witnesses that have signed it (§12.2). Anyone
// may call it. Faults: rate_limited, not_found for any other epoch; service_unavailable while the head does not continue one
// that was signed.
func (a *API) Checkpoint(ctx context.Context, epoch int) (signed []byte, err error) {
	err = a.proving(ctx, epoch, -1, func(ctx context.Context, on db.Querier, head Head) (err error) {
		signed, err = a.sign(ctx, on, head)
		return err
	})
	return signed, err
}

// atHead calls use with the present head. If use returns ErrBehind, another request or process may have signed a greater head
// meanwhile: atHead reads the head again, and calls use again if it has changed. Faults: service_unavailable before the log has
// begun.
func atHead(ctx context.Context, q db.Querier, use func(Head) error) error {
	for last := int64(-1); ; {
		head, err := present(ctx, q)
		if err != nil {
			return err
		}
		err = use(head)
		if !errors.Is(err, ErrBehind) || head.Size == last {
			return err
		}
		last = head.Size
	}
}

// sign returns the checkpoint of a committed head.
func (a *API) sign(ctx context.Context, q db.Querier, head Head) ([]byte, error) {
	signed, err := a.signedNote(ctx, q, head)
	if err != nil {
		return nil, err
	}
	err = a.Signed.Raise(head, signed, func(kept []Head) error { return continuingAll(ctx, q, head, kept) })
	if err != nil {
		return nil, fault.Wrap(fault.ServiceUnavailable, err)
	}
	lines, err := db.Column[string](ctx, q, named("cosignatures"), head.Epoch, head.Size)
	return withLines(signed, lines), err
}

// signedNote returns a head with the signatures of the log.
func (a *API) signedNote(ctx context.Context, q db.Querier, head Head) ([]byte, error) {
	signers, _, err := a.signers(ctx, q, head.Origin)
	if err != nil {
		return nil, err
	}
	signed, err := note.Sign(&note.Note{Text: head.checkpoint().Text()}, signers...)
	if err != nil {
		return nil, fmt.Errorf("keylog: %w", err)
	}
	return signed, nil
}

// withLines adds the lines of witnesses to a signed head.
func withLines(signed []byte, lines []string) []byte {
	for _, line := range lines {
		signed = append(append(signed, line...), '\n')
	}
	return signed
}

// Consistency is the proof that a head of the log continues an earlier one, as REST returns it.
type Consistency struct {
	OldSize    int64    `json:"old_size"`
	Size       int64    `json:"size"`
	Hashes     []string `json:"hashes"`
	Checkpoint string   `json:"checkpoint"`
}

// Prove returns the proof that the present head continues the head of size old (§12.2). Anyone may call it. Faults: not_found for
// another epoch than the present one and for a size above the head; service_unavailable as Checkpoint.
func (a *API) Prove(ctx context.Context, epoch int, old int64) (proof *Consistency, err error) {
	err = a.proving(ctx, epoch, old-1, func(ctx context.Context, on db.Querier, head Head) error {
		proof = &Consistency{OldSize: old, Size: head.Size, Hashes: []string{}}
		if old > 0 {
			hashes, err := tlog.ProveTree(head.Size, old, hashesOf(ctx, on, head))
			if err != nil {
				return broken(err)
			}
			for _, hash := range hashes {
				proof.Hashes = append(proof.Hashes, base64.StdEncoding.EncodeToString(hash[:]))
			}
		}
		checkpoint, err := a.sign(ctx, on, head)
		proof.Checkpoint = string(checkpoint)
		return err
	})
	return proof, err
}

// Include returns the proof that an entry is in the log, in the format tlog-proof of C2SP (§12.2). Of the heads that have the
// entry it uses the one with the most lines of witnesses, or the newest of several. Anyone may call it. Faults as Prove.
func (a *API) Include(ctx context.Context, epoch int, index int64) (proof []byte, err error) {
	err = a.proving(ctx, epoch, index, func(ctx context.Context, on db.Querier, head Head) error {
		made, err := a.provenBy(ctx, on, head)
		if err != nil {
			return err
		}
		proof, err = made.include(index)
		return err
	})
	return proof, err
}

// proving calls prove with the present head, on the connections of anonymous reads. It returns not_found if the head has another
// epoch or does not have the entry at index; -1 stands for no entry.
func (a *API) proving(
	ctx context.Context, epoch int, index int64, prove func(ctx context.Context, on db.Querier, head Head) error,
) error {
	return a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		return atHead(ctx, on, func(head Head) error {
			if head.Epoch != epoch || head.Size <= index {
				return fault.New(fault.NotFound)
			}
			return prove(ctx, on, head)
		})
	})
}

// broken returns the fault of a stored tree that does not match its head.
func broken(err error) error {
	if errors.Is(err, errDiffers) {
		return fault.Wrap(fault.ServiceUnavailable, err)
	}
	return err
}

// proven makes proofs of entries. A proof uses the head with the most lines of witnesses that has the entry: after each growth
// the present head has no lines for a moment, and an agent that demands a quorum needs them. A proof by an earlier head is as
// good, because the present one continues it (consistency).
type proven struct {
	tree reader // of the present head
	// heads are in order of preference, the present one last. An earlier head is kept if it has more lines than all later ones.
	heads []signedHead
}

// signedHead is a head with all its signatures.
type signedHead struct {
	size   int64
	signed []byte
}

// provenBy prepares proofs of entries of the present head. Faults as Prove.
func (a *API) provenBy(ctx context.Context, on db.Querier, present Head) (*proven, error) {
	signed, err := a.sign(ctx, on, present)
	if err != nil {
		return nil, err
	}
	cosigned, err := db.All[struct {
		Size  int64
		Lines pq.StringArray
	}](ctx, on, named("most_cosigned"), present.Epoch, present.Size)
	if err != nil {
		return nil, err
	}
	p := &proven{tree: hashesOf(ctx, on, present)}
	for _, found := range cosigned {
		if found.Size == present.Size {
			break
		}
		root, err := tlog.TreeHash(found.Size, p.tree)
		if err != nil {
			return nil, broken(err)
		}
		made, err := a.signedNote(ctx, on, Head{Epoch: present.Epoch, Origin: present.Origin, Size: found.Size, Root: root[:]})
		if err != nil {
			return nil, err
		}
		p.heads = append(p.heads, signedHead{found.Size, withLines(made, found.Lines)})
	}
	p.heads = append(p.heads, signedHead{present.Size, signed})
	return p, nil
}

// include returns the proof of an entry of the present head, as a file of C2SP's tlog-proof.
func (p *proven) include(index int64) ([]byte, error) {
	head := p.heads[slices.IndexFunc(p.heads, func(h signedHead) bool { return h.size > index })]
	hashes, err := tlog.ProveRecord(head.size, index, p.tree)
	if err != nil {
		return nil, broken(err)
	}
	return []byte(format.Proof{Index: index, Hashes: hashes, Checkpoint: head.signed}.Text()), nil
}

// Name returns the origin of the present log and the hash of its present key in hex, both as in the log's vkey. Before the log
// has begun it returns the future ones.
func (a *API) Name(ctx context.Context, q db.Querier) (name, keyHash string, err error) {
	head, err := present(ctx, q)
	switch {
	case errors.Is(err, errNotBegun):
		head.Origin = format.Origin(hostname(a.Origin), 1)
	case err != nil:
		return "", "", err
	}
	key, err := a.SigningKey(ctx, q, PurposeLog)
	if err != nil {
		return "", "", err
	}
	s, err := format.NewLogSigner(head.Origin, key)
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

// Proofs returns the proofs that entries are in the present log, as files of C2SP's tlog-proof, in the order of their indexes. A
// proof is nil if its index is nil or above the head. All are nil while the head is not signed (ErrBehind, ErrForked).
func (a *API) Proofs(ctx context.Context, indexes ...*int64) ([]*string, error) {
	proofs := make([]*string, len(indexes))
	if !slices.ContainsFunc(indexes, func(index *int64) bool { return index != nil }) {
		return proofs, nil
	}
	err := atHead(ctx, a.DB.SQL, func(head Head) error {
		made, err := a.provenBy(ctx, a.DB.SQL, head)
		if err != nil {
			return err
		}
		for i, index := range indexes {
			if index == nil || *index >= head.Size {
				continue
			}
			proof, err := made.include(*index)
			if err != nil {
				return err
			}
			proofs[i] = new(string(proof))
		}
		return nil
	})
	if unsigned(err) {
		return make([]*string, len(indexes)), nil
	}
	return proofs, err
}

// KeyIndex returns the index of a key's entry in the present log, nil until the log has it.
func (a *API) KeyIndex(ctx context.Context, purpose string, number int) (*int64, error) {
	found, err := db.Column[int64](ctx, a.DB.SQL, named("index_of"), subjectOf(a.keyEntry(purpose, number).Bytes()))
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

// unsigned reports whether err means that the present head is not signed. The metrics show the reason.
func unsigned(err error) bool {
	return errors.Is(err, ErrBehind) || errors.Is(err, ErrForked) || errors.Is(err, errNotBegun)
}
