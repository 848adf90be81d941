package keylog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Witnesses are those that sign the log (§12.4). What they return is verified: lines are of the witness, heads are also signed by the
// log.
type Witnesses interface {
	// Keys are their vkeys.
	Keys() []string
	// Submit takes a signed head to some of them, named by their vkeys, at once. prove returns the proof that the tree of one size
	// continues the smaller one.
	Submit(
		ctx context.Context, to []string, signed []byte, prove func(ctx context.Context, old, size int64) ([]tlog.Hash, error),
	) []Cosigned
	// Heads asks all of them at once which head of a log they signed last. The vkeys are of the log, and have one name.
	Heads(ctx context.Context, log []string) []Shown
}

// Cosigned is the answer of a witness to a head.
type Cosigned struct {
	// Witness is its vkey, Line its line below the checkpoint, without its end.
	Witness, Line string
	// Err says why it has not signed; Differs that it names another head, which this one does not continue.
	Err     error
	Differs bool
}

// Shown is the head that a witness signed last.
type Shown struct {
	// Witness is its vkey, Note the signed head, nil if it has signed none.
	Witness string
	Note    []byte
	// Err says why nothing is known.
	Err error
}

// AskWitnesses asks the witnesses for the last head that they signed, and keeps those that the database's does not continue: from then
// on this process refuses to sign (ErrBehind, ErrForked), and so do others with its data folder if it is the greatest. It asks for
// later epochs, too. The error joins those of the witnesses that did not answer, and says which head was lost. The start of a process
// and jobs call it.
func (a *API) AskWitnesses(ctx context.Context) error {
	if a.Witnesses == nil {
		return nil
	}
	head, err := present(ctx, a.DB.SQL)
	if errors.Is(err, errNotBegun) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed error
	host, _ := hostOf(head.Origin)
	for epoch := head.Epoch; ; epoch++ {
		_, vkeys, err := a.signers(ctx, a.DB.SQL, origin(host, epoch))
		if err != nil {
			return err
		}
		answered, known := false, false
		for _, shown := range a.Witnesses.Heads(ctx, vkeys) {
			answered, known = answered || shown.Err == nil, known || shown.Note != nil
			if shown.Err != nil && epoch == head.Epoch { // it is asked about the next epoch at the same address
				failed = errors.Join(failed, shown.Err)
			}
			if shown.Note != nil {
				failed = errors.Join(failed, a.compare(ctx, shown))
			}
		}
		if !answered || !known && epoch > head.Epoch {
			return failed
		}
	}
}

// compare keeps a head that a witness has signed if the present one does not continue it, and returns ErrBehind or ErrForked then.
func (a *API) compare(ctx context.Context, shown Shown) error {
	signed, err := parseHead(shown.Note)
	if err != nil {
		return fmt.Errorf("witness %s: %w", shown.Witness, err)
	}
	err = atHead(ctx, a.DB.SQL, func(head Head) error { return continuing(ctx, a.DB.SQL, head, signed) })
	if errors.Is(err, ErrBehind) || errors.Is(err, ErrForked) {
		err = errors.Join(fmt.Errorf("witness %s has signed another head: %w", shown.Witness, err), a.Signed.Learn(signed, shown.Note))
	}
	return err
}
