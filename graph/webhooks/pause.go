package webhooks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Pause pauses every webhook of an agent and voids its secret, until the agent switches it on again (§4.12). Waiting deliveries are
// deleted, and attempts under way acknowledge nothing. Call it in the transaction that ends the agent's tokens or suspends it, with
// the agent's row locked.
func Pause(ctx context.Context, tx *db.Tx, botID uuid.UUID, why auth.Ending) error {
	has, err := db.Column[uuid.UUID](ctx, tx.SQL, lockWebhooks, botID)
	if err != nil || len(has) == 0 {
		return err
	}
	if _, err := tx.SQL.ExecContext(ctx, dropAllPending.Text, botID); err != nil {
		return err
	}
	_, err = tx.SQL.ExecContext(ctx, voidWebhooks.Text, botID, string(why))
	return err
}

// endings are the reasons of Pause, as last_failure shows them.
func endings() []string {
	all := make([]string, len(auth.Endings))
	for i, why := range auth.Endings {
		all[i] = string(why)
	}
	return all
}

// lockCaller locks the caller's row and checks its token once more, so that a request that was authenticated before the token ended
// changes no webhook after it. Its faults are unauthorized and, for a suspended agent, forbidden.
func lockCaller(ctx context.Context, tx *db.Tx, v viewer.Viewer) error {
	if _, err := tx.SQL.ExecContext(ctx, lockAgent.Text, v.BotID); err != nil {
		return err
	}
	suspended, err := db.Column[bool](ctx, tx.SQL, holdsToken, v.TokenID)
	switch {
	case err != nil:
		return err
	case len(suspended) == 0:
		return fault.New(fault.Unauthorized)
	case suspended[0]:
		return fault.New(fault.Forbidden)
	}
	return nil
}
