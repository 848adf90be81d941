package webhooks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// TestWebhook sends a webhook of the caller, whatever its state, one webhook.test, which is no event of the queue (§4.12). One that
// waits already is sent now. How it ended is among the deliveries. Only an agent may call it. Faults: forbidden, invalid_id,
// not_found.
func (a *API) TestWebhook(ctx context.Context, in Input) (*Test, error) {
	v, err := a.caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	test := new(Test)
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := lock(ctx, tx, v, id)
		if err != nil {
			return err
		}
		if test.EventID, err = askTest(ctx, tx, id); err != nil {
			return err
		}
		return a.queue(ctx, tx, Scope{Due: true})
	})
	if err != nil {
		return nil, err
	}
	return test, nil
}

// askTest makes the test of a webhook, which is locked, due now, and returns the id under which it is sent. One test waits for a
// webhook at most.
func askTest(ctx context.Context, tx *db.Tx, id uuid.UUID) (uuid.UUID, error) {
	waiting, err := db.Column[uuid.UUID](ctx, tx.SQL, waitingTest, id)
	if err != nil {
		return uuid.Nil, err
	}
	if len(waiting) == 0 {
		waiting = []uuid.UUID{uuid.Must(uuid.NewV7())}
		if _, err := tx.SQL.ExecContext(ctx, addTest.Text, id, waiting[0]); err != nil {
			return uuid.Nil, err
		}
	}
	_, err = tx.SQL.ExecContext(ctx, lookNow.Text, id)
	return waiting[0], err
}

// askMissingTests makes the tests of webhooks that wait for theirs and have none: of the given webhook, or of up to 100.
func askMissingTests(ctx context.Context, tx *db.Tx, webhook *uuid.UUID) error {
	found, err := db.Column[uuid.UUID](ctx, tx.SQL, untested, webhook)
	if err != nil {
		return err
	}
	for _, id := range found {
		if _, err := askTest(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}
