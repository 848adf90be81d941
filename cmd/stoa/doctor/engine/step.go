package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// step is one statement of a check and its expected outcome. In its text $s is the schema.
type step struct {
	// on is the session that runs it: a, b or c.
	on   string
	sql  string
	want want
	// table is set if the step makes a table: its name.
	table string
	// starts means that the step only starts the statement, which must wait for a lock; a later step of the session without a text
	// awaits it.
	starts bool
}

// want is the expected outcome of a statement: success, a value in the first column of its first row, or an error.
type want struct {
	value string
	code  pqerror.Code
}

func (w want) String() string {
	switch {
	case w.code != "":
		return "error " + string(w.code)
	case w.value != "":
		return w.value
	}
	return "success"
}

func run(on, sql string) step          { return step{on: on, sql: sql} }
func gives(on, sql, value string) step { return step{on: on, sql: sql, want: want{value: value}} }
func refuses(on, sql string, code pqerror.Code) step {
	return step{on: on, sql: sql, want: want{code: code}}
}
func starts(on, sql string) step { return step{on: on, sql: sql, starts: true} }
func ends(on, value string) step { return step{on: on, want: want{value: value}} }

// table makes a table in the schema, and distributes it if Config.Spread says how.
func table(name, columns string) step {
	return step{on: "a", sql: "CREATE TABLE $s." + name + " (" + columns + ")", table: name}
}

// The errors that steps expect.
const (
	lockNotAvailable = pqerror.Code("55P03")
	uniqueViolation  = pqerror.Code("23505")
	foreignKey       = pqerror.Code("23503")
	checkViolation   = pqerror.Code("23514")
	restrict         = pqerror.Code("23001")
	canceled         = pqerror.Code("57014")
	undefinedTable   = pqerror.Code("42P01")
)

// check tries one feature.
type check struct {
	name, tried, promise string
	// session means that Stoa needs it on connections of Config.Direct only.
	session bool
	// steps are run in order; then try, if there is one.
	steps []step
	try   func(t *trial) error
}

// run returns how the server behaved, if not as it should.
func (c check) run(ctx context.Context, config Config, schema string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	address := config.Address
	if c.session {
		address = config.Direct
	}
	pool, err := open(address)
	if err != nil {
		return err
	}
	defer pool.Close()
	t := &trial{ctx: ctx, pool: pool, address: address, schema: schema, spread: config.Spread, sessions: make(map[string]*session)}
	defer t.close()
	for _, s := range c.steps {
		if err := t.step(s); err != nil {
			return err
		}
	}
	if c.try == nil {
		return nil
	}
	return c.try(t)
}

// trial is a check under way.
type trial struct {
	//nolint:containedctx // of one check
	ctx                     context.Context
	pool                    *sql.DB
	address, schema, spread string
	sessions                map[string]*session
}

// session is one connection.
type session struct {
	conn *sql.Conn
	// pid is the server's process of the session.
	pid string
	// under way is the statement of a step that only starts it.
	underWay chan outcome
}

// outcome of a statement: the first column of the first row, as text.
type outcome struct {
	value string
	err   error
}

// close ends all sessions, and with them their transactions and locks. Behind a pooler that shares connections a lock or a setting
// could stay, so the checks that make them also undo them.
func (t *trial) close() {
	for _, s := range t.sessions {
		if s.underWay != nil {
			<-s.underWay // the context has ended or the statement has
		}
		_, _ = s.conn.ExecContext(context.WithoutCancel(t.ctx), "ROLLBACK") // without a transaction it only warns
		_ = s.conn.Close()
	}
}

// session returns the session of a name, opened at its first use.
func (t *trial) session(name string) (*session, error) {
	if s, ok := t.sessions[name]; ok {
		return s, nil
	}
	conn, err := t.pool.Conn(t.ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn}
	t.sessions[name] = s
	first := t.ask(s, "SELECT pg_backend_pid()")
	s.pid = first.value
	return s, first.err
}

// ask runs a statement without parameters, so in one round trip. A missing row is the value "none", NULL is "null".
func (t *trial) ask(s *session, text string) outcome {
	rows, err := s.conn.QueryContext(t.ctx, strings.ReplaceAll(text, "$s", t.schema))
	if err != nil {
		return outcome{err: err}
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return outcome{err: err}
	}
	value := "none"
	if rows.Next() {
		fields := make([]any, len(columns))
		for i := range fields {
			fields[i] = new(sql.NullString)
		}
		if err := rows.Scan(fields...); err != nil {
			return outcome{err: err}
		}
		first, _ := fields[0].(*sql.NullString)
		if value = first.String; !first.Valid {
			value = "null"
		}
	}
	for rows.Next() { // an error may come behind rows
	}
	return outcome{value: value, err: rows.Err()}
}

// step runs a step and compares its outcome.
func (t *trial) step(wanted step) error {
	s, err := t.session(wanted.on)
	if err != nil {
		return err
	}
	if wanted.starts {
		s.underWay = make(chan outcome, 1)
		go func() { s.underWay <- t.ask(s, wanted.sql) }()
		return t.awaitLock(s)
	}
	var got outcome
	if wanted.sql == "" {
		got = <-s.underWay
		s.underWay = nil
	} else {
		got = t.ask(s, wanted.sql)
	}
	if err := wanted.want.compare(wanted.sql, got); err != nil {
		return err
	}
	if wanted.table == "" || t.spread == "" {
		return nil
	}
	spread := strings.ReplaceAll(t.spread, "%s", t.schema+"."+wanted.table)
	if got := t.ask(s, spread); got.err != nil {
		return fmt.Errorf("%s: %w", strings.ReplaceAll(spread, t.schema+".", ""), got.err)
	}
	return nil
}

// compare returns an error if a statement did not do what was wanted.
func (w want) compare(text string, got outcome) error {
	if w.code != "" {
		if refused, ok := errors.AsType[*pq.Error](got.err); ok && refused.Code == w.code {
			return nil
		}
	} else if got.err == nil && (w.value == "" || w.value == got.value) {
		return nil
	}
	if text = strings.Join(strings.Fields(strings.ReplaceAll(text, "$s.", "")), " "); text == "" {
		text = "the statement that waited"
	}
	if got.err != nil {
		return fmt.Errorf("%s: %w, expected %v", text, got.err, w)
	}
	return fmt.Errorf("%s: got %s, expected %v", text, got.value, w)
}

const (
	lockLook = 5 * time.Millisecond
	// lockWait bounds how long a statement is given to reach the lock for which it must wait.
	lockWait = time.Second
)

// awaitLock waits until a session waits for a lock. A server that does not say so is given lockWait.
func (t *trial) awaitLock(s *session) error {
	watcher, err := t.session("watcher")
	if err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < lockWait && len(s.underWay) == 0; time.Sleep(lockLook) {
		if t.ask(watcher, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = "+s.pid).value != "0" {
			return nil
		}
	}
	return nil
}
