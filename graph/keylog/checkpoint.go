package keylog

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Checkpoint returns the signed head of the present epoch, with the lines of the witnesses that have signed it (§12.2). Anyone
// may call it. Faults: rate_limited, not_found for any other epoch; service_unavailable while the head does not continue one
// that was signed.
func (a *API) Checkpoint(ctx context.Context, epoch int) (signed []byte, err error) {
	err = a.proving(ctx, epoch, 0, func(ctx context.Context, on db.Querier, head Head) (err error) {
		signed, err = a.sign(ctx, on, head)
		return err
	})
	return signed, err
}

// atHead calls use with the present head. If that is behind one that was signed, another request or process may have signed a
// greater one meanwhile: it reads the head again, and calls use again if the head has changed. Faults: service_unavailable
// before the log has begun.
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

// sign returns the checkpoint of a head that is committed.
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
	signed, err := note.Sign(&note.Note{Text: head.text()}, signers...)
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

// Consistency is the proof that a head of the log continues an earlier one, as REST has it.
type Consistency struct {
	OldSize    int64    `json:"old_size"`
	Size       int64    `json:"size"`
	Hashes     []string `json:"hashes"`
	Checkpoint string   `json:"checkpoint"`
}

// Prove returns the proof that the present head continues that of a size (§12.2). Anyone may call it. Faults: not_found for
// another epoch than the present one and above the head; service_unavailable as Checkpoint.
func (a *API) Prove(ctx context.Context, epoch int, old int64) (proof *Consistency, err error) {
	err = a.proving(ctx, epoch, old, func(ctx context.Context, on db.Querier, head Head) error {
		proof = &Consistency{OldSize: old, Size: head.Size, Hashes: []string{}}
		if old > 0 {
			hashes, err := tlog.ProveTree(head.Size, old, hashesOf(ctx, on, head))
			if err != nil {
				return broken(err)
			}
			for _, hash := range hashes {
				proof.Hashes = append(proof.Hashes, encoded(hash))
			}
		}
		checkpoint, err := a.sign(ctx, on, head)
		proof.Checkpoint = string(checkpoint)
		return err
	})
	return proof, err
}

// Include returns the proof that an entry is in the log, as C2SP's tlog-proof has it (§12.2). Of the heads that have the entry it is
// that with the most lines of witnesses, and of these the newest. Anyone may call it. Faults as Prove.
func (a *API) Include(ctx context.Context, epoch int, index int64) (proof []byte, err error) {
	err = a.proving(ctx, epoch, index+1, func(ctx context.Context, on db.Querier, head Head) error {
		made, err := a.provenBy(ctx, on, head)
		if err != nil {
			return err
		}
		proof, err = made.include(index)
		return err
	})
	return proof, err
}

// proving calls prove with the present head, on the connections of anonymous reads: not_found if it is of another epoch or
// smaller than least.
func (a *API) proving(
	ctx context.Context, epoch int, least int64, prove func(ctx context.Context, on db.Querier, head Head) error,
) error {
	return a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		return atHead(ctx, on, func(head Head) error {
			if head.Epoch != epoch || head.Size < least {
				return fault.New(fault.NotFound)
			}
			return prove(ctx, on, head)
		})
	})
}

// broken is the fault of a tree in the database that does not fit its head.
func broken(err error) error {
	if errors.Is(err, errDiffers) {
		return fault.Wrap(fault.ServiceUnavailable, err)
	}
	return err
}

func encoded(hash tlog.Hash) string { return base64.StdEncoding.EncodeToString(hash[:]) }
