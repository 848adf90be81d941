package keylog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
	format "stoa/rest/client/keylog"
	"stoa/rest/client/keylog/witness"
)

// Witnesses sign the log (§12.4). Their results are verified: lines are signed by the witness, heads also by the log.
type Witnesses interface {
	// Keys returns their vkeys.
	Keys() []string
	// Submit sends a signed head to the witnesses with these vkeys concurrently. prove returns the proof that the tree of one
	// size continues the smaller one.
	Submit(ctx context.Context, to []string, signed []byte, prove witness.Prove) []witness.Answer
	// Heads asks all witnesses concurrently for the last head of a log that they signed. log holds the log's verification keys,
	// which share a name.
	Heads(ctx context.Context, log []string) []witness.Answer
}

// AskWitnesses asks the witnesses for the last head that they signed, also of later epochs, and keeps the heads that the stored
// head does not continue. From then on this process refuses to sign (ErrBehind, ErrForked). If no kept head is greater, other
// processes with the same folder refuse too. The error joins the errors of witnesses that did not answer and names the lost head.
// Starting processes and jobs call it.
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
	host, _, err := format.HostOf(head.Origin)
	if err != nil {
		return err
	}
	for epoch := head.Epoch; ; epoch++ {
		_, vkeys, err := a.signers(ctx, a.DB.SQL, format.Origin(host, epoch))
		if err != nil {
			return err
		}
		answered, known := false, false
		for _, shown := range a.Witnesses.Heads(ctx, vkeys) {
			answered, known = answered || shown.Err == nil, known || shown.Text != ""
			if shown.Err != nil && epoch == head.Epoch { // the next epoch is asked for at the same address
				failed = errors.Join(failed, shown.Err)
			}
			if shown.Text != "" {
				failed = errors.Join(failed, a.compare(ctx, shown))
			}
		}
		if !answered || !known && epoch > head.Epoch {
			return failed
		}
	}
}

// compare keeps a head that a witness has signed if the present head does not continue it, and returns ErrBehind or ErrForked.
func (a *API) compare(ctx context.Context, shown witness.Answer) error {
	signed, err := parseHead([]byte(shown.Text))
	if err != nil {
		return fmt.Errorf("witness %s: %w", shown.Witness, err)
	}
	err = atHead(ctx, a.DB.SQL, func(head Head) error { return continuing(ctx, a.DB.SQL, head, signed) })
	if errors.Is(err, ErrBehind) || errors.Is(err, ErrForked) {
		err = errors.Join(fmt.Errorf("witness %s has signed another head: %w", shown.Witness, err), a.Signed.Learn(signed, []byte(shown.Text)))
	}
	return err
}

// The pauses after which a witness that did not sign is asked again: each is twice the last one.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// pause is the time without requests to a witness that did not sign.
type pause struct {
	until  time.Time
	length time.Duration
}

// Cosign submits the present head to the witnesses that have not signed it within the last hour, and stores their lines. A
// witness that did not sign is asked again after 1 s, 2 s and so on up to a minute, also if the log has grown meanwhile. While
// one call runs, others do nothing. refused joins the errors of witnesses that did not sign; only their lines are missing. Only
// jobs call it.
func (a *API) Cosign(ctx context.Context) (refused, err error) {
	if a.Witnesses == nil || !a.cosigning.TryLock() {
		return nil, nil
	}
	defer a.cosigning.Unlock()
	head, err := present(ctx, a.DB.SQL)
	if unsigned(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	due, err := a.dueWitnesses(ctx, head)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	signed, err := a.sign(ctx, a.DB.SQL, head)
	if unsigned(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var differing error
	for _, answer := range a.Witnesses.Submit(ctx, due, signed, func(ctx context.Context, old, size int64) ([]tlog.Hash, error) {
		return tlog.ProveTree(size, old, hashesOf(ctx, a.DB.SQL, head))
	}) {
		a.noteAnswer(answer)
		switch {
		case answer.Differs():
			differing = errors.Join(differing, answer.Err)
		case answer.Err != nil:
			refused = errors.Join(refused, answer.Err)
		default:
			if err := db.Exec(ctx, a.DB.SQL, named("add_cosigned"), head.Epoch, head.Size, answer.Witness, answer.Text); err != nil {
				return refused, err
			}
		}
	}
	if differing != nil {
		if lost := a.AskWitnesses(ctx); lost != nil { // otherwise another process has submitted a later head
			refused = errors.Join(refused, differing, lost)
		}
	}
	return refused, db.Exec(ctx, a.DB.SQL, named("drop_cosigned"), head.Epoch, pq.StringArray(a.Witnesses.Keys()))
}

// dueWitnesses returns the witnesses to ask for their line of a head.
func (a *API) dueWitnesses(ctx context.Context, head Head) ([]string, error) {
	fresh, err := db.Column[string](ctx, a.DB.SQL, named("fresh_cosigned"), head.Epoch, head.Size)
	return slices.DeleteFunc(slices.Clone(a.Witnesses.Keys()), func(witness string) bool {
		return slices.Contains(fresh, witness) || time.Now().Before(a.pauses[witness].until)
	}), err
}

// noteAnswer begins or ends the pauses of a witness.
func (a *API) noteAnswer(answer witness.Answer) {
	if answer.Err == nil {
		delete(a.pauses, answer.Witness)
		return
	}
	if a.pauses == nil {
		a.pauses = make(map[string]pause)
	}
	length := min(max(firstPause, 2*a.pauses[answer.Witness].length), longestPause)
	a.pauses[answer.Witness] = pause{time.Now().Add(length), length}
}
