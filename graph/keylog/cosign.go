package keylog

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lib/pq"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
)

// The pauses after which a witness that did not sign is asked again: each is twice the last one.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// pause is how long a witness is left alone after it did not sign.
type pause struct {
	until  time.Time
	length time.Duration
}

// Cosign submits the present head to the witnesses that have not signed it within the last hour, and stores their lines. A witness that
// did not sign is asked again after 1 s, 2 s and so on up to a minute, also if the log has grown meanwhile. At most one call at a time
// does anything. refused joins why witnesses did not sign, which costs their lines and nothing else. Only jobs call it.
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
		case answer.Differs:
			differing = errors.Join(differing, answer.Err)
		case answer.Err != nil:
			refused = errors.Join(refused, answer.Err)
		default:
			if _, err := a.DB.SQL.ExecContext(ctx, named("add_cosigned").Text, head.Epoch, head.Size, answer.Witness, answer.Line); err != nil {
				return refused, err
			}
		}
	}
	if differing != nil {
		if lost := a.AskWitnesses(ctx); lost != nil { // otherwise another process has submitted a later head
			refused = errors.Join(refused, differing, lost)
		}
	}
	_, err = a.DB.SQL.ExecContext(ctx, named("drop_cosigned").Text, head.Epoch, pq.StringArray(a.Witnesses.Keys()))
	return refused, err
}

// dueWitnesses are those that are to be asked for their line of a head.
func (a *API) dueWitnesses(ctx context.Context, head Head) ([]string, error) {
	fresh, err := db.Column[string](ctx, a.DB.SQL, named("fresh_cosigned"), head.Epoch, head.Size)
	return slices.DeleteFunc(slices.Clone(a.Witnesses.Keys()), func(witness string) bool {
		return slices.Contains(fresh, witness) || time.Now().Before(a.pauses[witness].until)
	}), err
}

// noteAnswer begins or ends the pauses of a witness.
func (a *API) noteAnswer(answer Cosigned) {
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
