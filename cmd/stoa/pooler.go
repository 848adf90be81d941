package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

var errTransactionPooling = errors.New("a pooler shares connections between clients (pool_mode = transaction or statement);" +
	" Stoa keeps prepared statements, advisory locks and LISTEN on its connections: use pool_mode = session," +
	" or connect directly (docs/running.md)")

// checkPooler refuses a pooler that gives one connection of the database to two clients at once: of two connections, a setting
// that is made on the first must not show on the second. It may miss a busy pooler, but not a quiet one.
func checkPooler(ctx context.Context, pool *sql.DB) error {
	first, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer first.Close() //nolint:errcheck // it only returns the connection to the pool
	second, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer second.Close() //nolint:errcheck // it only returns the connection to the pool
	mark, found := rand.Text(), ""
	if _, err := first.ExecContext(ctx, "SET stoa.pooler = '"+mark+"'"); err != nil {
		return err
	}
	// Without parameters: a prepared statement would fail behind such a pooler before the setting is read.
	if err := second.QueryRowContext(ctx, "SELECT coalesce(current_setting('stoa.pooler', true), '')").Scan(&found); err != nil {
		return err
	}
	if found == mark {
		return errTransactionPooling
	}
	_, err = first.ExecContext(ctx, "RESET stoa.pooler")
	return err
}

// explainPooler says what to set in a pooler that refuses the parameters with which Stoa opens a connection. It returns nil for
// every other error: those go away or show elsewhere.
func explainPooler(err error) error {
	refused, ok := errors.AsType[*pq.Error](err)
	if !ok || !strings.Contains(refused.Message, "unsupported startup parameter") {
		return nil
	}
	return fmt.Errorf("the database: %w; a pooler must let Stoa's parameters through or ignore them:"+
		" set ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, jit (docs/running.md)", err)
}
