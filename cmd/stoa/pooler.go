package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/lib/pq"
)

var (
	errTransactionPooling = errors.New("a pooler shares connections between clients (pool_mode = transaction or statement);" +
		" Stoa listens and holds locks on some of its connections: name the database itself in --database-direct-url," +
		" or use pool_mode = session (docs/running.md)")
	errStatementPooling = errors.New("the pooler takes no transactions (pool_mode = statement): use pool_mode = transaction or session")
	errOtherDatabase    = errors.New("--database-direct-url does not lead to the primary of the database that --database-url leads to")
)

// inspectPooler waits for the database behind a pooler and reports whether the pooler is in transaction mode. It refuses a direct
// URL that leads elsewhere.
func inspectPooler(ctx context.Context, address, direct string, log *slog.Logger) (pooled bool, err error) {
	err = awaitDatabase(ctx, address, log, func(pool *sql.DB) error {
		var err error
		if pooled, err = sharesConnections(ctx, pool); err != nil {
			return err
		}
		if err := takesTransactions(ctx, pool); err != nil {
			return err
		}
		return awaitDatabase(ctx, direct, log, func(direct *sql.DB) error { return sameDatabase(ctx, pool, direct) })
	})
	if pooled {
		log.Info("the pooler is in transaction mode: every statement is a transaction of its own", "database", redactURL(address))
	}
	return pooled, err
}

// sharingRounds is how often sharesConnections looks.
const sharingRounds = 5

// sharesConnections reports whether there is a pooler that gives one connection of the database to two clients in turns: of two
// connections, a setting that is made on the first shows on the second, or does not stay on the first.
func sharesConnections(ctx context.Context, pool *sql.DB) (bool, error) {
	first, err := pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer first.Close() //nolint:errcheck // it only returns the connection to the pool
	second, err := pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer second.Close() //nolint:errcheck // it only returns the connection to the pool
	for range sharingRounds {
		mark, found := rand.Text(), ""
		if _, err := first.ExecContext(ctx, "SET stoa.pooler = '"+mark+"'"); err != nil {
			return false, err
		}
		for conn, want := range map[*sql.Conn]bool{first: true, second: false} {
			// Without parameters, which would need two round trips on the same connection.
			look := conn.QueryRowContext(ctx, "SELECT coalesce(current_setting('stoa.pooler', true), '')")
			if err := look.Scan(&found); err != nil || (found == mark) != want {
				return true, err
			}
		}
	}
	_, err = first.ExecContext(ctx, "RESET stoa.pooler")
	return false, err
}

// takesTransactions refuses a pooler that takes single statements only: it closes the connection at BEGIN and goes on answering.
func takesTransactions(ctx context.Context, pool *sql.DB) error {
	tx, err := pool.BeginTx(ctx, nil)
	var one int
	if errors.Is(err, driver.ErrBadConn) && pool.QueryRowContext(ctx, "SELECT 1").Scan(&one) == nil {
		return errStatementPooling
	}
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// sameDatabase checks that two pools lead to one database: a lock that is held through one shows through the other.
func sameDatabase(ctx context.Context, pool, direct *sql.DB) error {
	conn, err := direct.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it only returns the connection to the pool
	var pid int
	const lock = "SELECT pg_backend_pid() FROM (SELECT pg_advisory_lock_shared(%d, pg_backend_pid())) AS held"
	if err := conn.QueryRowContext(ctx, fmt.Sprintf(lock, directLock)).Scan(&pid); err != nil {
		return err
	}
	var seen bool
	// Without parameters, as above.
	err = pool.QueryRowContext(ctx, fmt.Sprintf(`SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
		WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.classid = %d AND l.objid = %d AND l.pid = %[2]d)`,
		directLock, pid)).Scan(&seen)
	if err == nil && !seen {
		err = errOtherDatabase
	}
	return err
}

// directLock is the first key of the advisory lock of sameDatabase; the second is the process of its connection.
const directLock = 7_061_050

// explainPooler says what to set in a pooler that refuses the parameters with which Stoa opens a connection. It returns nil for
// every other error: those go away or show elsewhere.
func explainPooler(err error) error {
	refused, ok := errors.AsType[*pq.Error](err)
	if !ok || !strings.Contains(refused.Message, "unsupported startup parameter") {
		return nil
	}
	return fmt.Errorf("the database: %w; a pooler in session mode must let Stoa's parameters through or ignore them:"+
		" set ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout,"+
		" client_connection_check_interval, jit (docs/running.md)", err)
}
