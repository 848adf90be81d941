package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

const insertAudit = `INSERT INTO audit_entries (id, created_at, operator, procedure, target, reason, details)
	VALUES (gen_random_uuid(), stoa_now(), 'o', 'p', '', 'r', '{}')`

func TestAnErrorLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	failure := errors.New("refused by a rule")
	followed := false
	err := w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		tx.AfterCommit(func() { followed = true })
		graphtest.OK(t)(tx.SQL.ExecContext(ctx, insertAudit))
		graphtest.OK(t)(tx.Ent.Invitation.Create().SetCodeHash([]byte("x")).SetUses(1).SetCreatedAt(time.Now()).Save(ctx))
		return failure
	})
	require.ErrorIs(t, err, failure)
	require.False(t, followed)
	require.EqualValues(t, 0, w.Count("SELECT (SELECT count(*) FROM audit_entries) + (SELECT count(*) FROM invitations)"))
}

// ent and hand-written SQL share one transaction.
func TestEntAndSQLCommitTogether(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	followed := 0
	require.NoError(t, w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		tx.AfterCommit(func() { followed++ })
		invitation := graphtest.Got(tx.Ent.Invitation.Create().SetCodeHash([]byte("x")).SetUses(1).SetCreatedAt(time.Now()).Save(ctx))(t)
		require.Equal(t, invitation.ID, one[uuid.UUID](t, tx.SQL, "SELECT id FROM invitations"))
		return nil
	}))
	require.Equal(t, 1, followed)
}

func TestDeadlocksAreRetried(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	patient := db.Patient(context.Background()) // the server takes a second to detect a deadlock
	orders := [2][2]uuid.UUID{{one.ID, other.ID}, {other.ID, one.ID}}
	// Each order waits after its first lock until the other also has its first lock.
	locked, once := [2]chan struct{}{make(chan struct{}), make(chan struct{})}, [2]sync.Once{}
	ended := graphtest.AtOnce(4, func(i int) error {
		mine, theirs := i%2, (i+1)%2
		return w.DB.Tx(patient, func(ctx context.Context, tx *db.Tx) error {
			for _, id := range orders[mine] {
				if _, err := tx.SQL.ExecContext(ctx, "UPDATE accounts SET entry_count = entry_count + 1 WHERE bot_id = $1", id); err != nil {
					return err
				}
				once[mine].Do(func() { close(locked[mine]) })
				<-locked[theirs]
			}
			return nil
		})
	})
	require.Equal(t, map[fault.Code]int{"": 4}, ended.Count())
	require.EqualValues(t, 2+2*4, w.Count("SELECT sum(entry_count) FROM accounts"))
}

func TestOtherErrorsAreNotRetried(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ran := 0
	err := w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		ran++
		return graphtest.Err(tx.SQL.ExecContext(ctx, "UPDATE settings SET fee_bps = 10001"))
	})
	require.True(t, db.Violates(err, "settings_fee_range"))
	require.False(t, db.Violates(err, "another"))
	require.Equal(t, 1, ran)
}

// A refused COMMIT has failed. If its connection died, the outcome is unknown: it is neither repeated nor called a failure.
func TestLostCommitIsUnknown(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ran := 0
	err := w.DB.Tx(context.Background(), func(_ context.Context, tx *db.Tx) error {
		ran++
		pid := one[int](t, tx.SQL, "SELECT pg_backend_pid()")
		w.Exec("SELECT pg_terminate_backend($1)", pid)
		require.Eventually(t, func() bool { return w.Count("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) == 0 }, slack.TestWait, 5*time.Millisecond)
		return nil
	})
	require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code)
	require.Equal(t, 1, ran)

	w.Exec("CREATE TABLE late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	err = w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		return graphtest.Err(tx.SQL.ExecContext(ctx, "INSERT INTO late VALUES (1), (1)"))
	})
	var refused *pq.Error
	require.ErrorAs(t, err, &refused)
}

func TestNowIsTheDatabaseClock(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	read := func() (now time.Time) {
		require.NoError(t, w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			now = graphtest.Got(tx.Now(ctx))(t)
			require.Equal(t, now, graphtest.Got(tx.Now(ctx))(t))
			return nil
		}))
		return now
	}
	before := read()
	w.Shift(48 * time.Hour)
	require.WithinDuration(t, before.Add(48*time.Hour), read(), slack.TestWait)
}
