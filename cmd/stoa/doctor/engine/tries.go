package engine

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
)

func (t *trial) steps(all ...step) error {
	for _, s := range all {
		if err := t.step(s); err != nil {
			return err
		}
	}
	return nil
}

// randomKey is the second key of an advisory lock that nothing else asks for.
func randomKey() string {
	key, err := rand.Int(rand.Reader, big.NewInt(1<<31))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return key.String()
}

// rounds is how often a check of concurrent work looks.
const rounds = 100

func drawInTurns(t *trial) error {
	last := int64(0)
	for range rounds {
		for _, name := range []string{"a", "b", "c"} {
			drawn, err := t.number(name, "SELECT nextval('$s.drawn')")
			if err != nil {
				return err
			}
			if drawn <= last {
				return fmt.Errorf("nextval: %d after another session's %d", drawn, last)
			}
			last = drawn
		}
	}
	bound, err := t.number("a", "SELECT last_value FROM $s.drawn")
	if err == nil && bound != last {
		err = fmt.Errorf("last_value: %d after %d was drawn", bound, last)
	}
	return err
}

// number is the value of a statement, as a number.
func (t *trial) number(name, text string) (int64, error) {
	s, err := t.session(name)
	if err != nil {
		return 0, err
	}
	got := t.ask(s, text)
	if got.err != nil {
		return 0, fmt.Errorf("%s: %w", text, got.err)
	}
	number, err := strconv.ParseInt(got.value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %s is no number", text, got.value)
	}
	return number, nil
}

const oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"

// watchCommits looks from another session while a transaction is open and at once after it: xmin must not pass it before, and must
// show its row after.
func watchCommits(t *trial) error {
	for i := range rounds / 4 {
		id := strconv.Itoa(i)
		if err := t.steps(run("a", "BEGIN"), run("a", "INSERT INTO $s.events VALUES ("+id+")")); err != nil {
			return err
		}
		own, err := t.number("a", "SELECT pg_current_xact_id()::text")
		if err != nil {
			return err
		}
		before, err := t.number("b", oldest)
		if err != nil {
			return err
		}
		if before > own {
			return fmt.Errorf("pg_snapshot_xmin: %d while transaction %d had not ended", before, own)
		}
		committed := make(chan error, 1)
		go func() { committed <- t.step(run("a", "COMMIT")) }()
		if err := t.seeCommit(own, id); err != nil {
			return errors.Join(err, <-committed)
		}
		if err := <-committed; err != nil {
			return err
		}
	}
	return nil
}

// seeCommit asks until xmin has passed a transaction; the next statement must see its row. Transactions of others may hold xmin back
// for as long as they like, so it asks only for a while.
func (t *trial) seeCommit(own int64, id string) error {
	for began := time.Now(); time.Since(began) < lockWait; {
		now, err := t.number("b", oldest)
		if err != nil {
			return err
		}
		if now > own {
			return t.step(gives("b", "SELECT count(*) FROM $s.events WHERE id = "+id, "1"))
		}
	}
	return nil
}

// sumTransfers reads the sum of two rows while another session moves from one to the other.
func sumTransfers(t *trial) error {
	stop, moved := make(chan struct{}), make(chan error, 1)
	if _, err := t.session("a"); err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-stop:
				moved <- nil
				return
			default:
			}
			err := t.steps(run("a", "BEGIN"), run("a", "UPDATE $s.halves SET n = n - 1 WHERE id = 1"),
				run("a", "UPDATE $s.halves SET n = n + 1 WHERE id = 2"), run("a", "COMMIT"))
			if err != nil {
				moved <- err
				return
			}
		}
	}()
	reader, err := t.reader("SELECT sum(n) FROM $s.halves", "0", 10*rounds)
	close(stop)
	return errors.Join(err, reader, <-moved)
}

// reader asks several times on its own connection, which no map of sessions holds.
func (t *trial) reader(text, value string, times int) (wrong, err error) {
	conn, err := t.pool.Conn(t.ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	own := &session{conn: conn}
	for range times {
		if wrong := (want{value: value}).compare(text, t.ask(own, text)); wrong != nil {
			return wrong, nil
		}
	}
	return nil, nil
}

// keepSessions makes a setting in one session and looks for it in both, in turns, as a pooler would share one connection.
func keepSessions(t *trial) error {
	mark := rand.Text()
	const look = "SELECT coalesce(current_setting('stoa.doctor', true), '')"
	defer func() { _ = t.step(run("a", "RESET stoa.doctor")) }()
	for i := range rounds / 10 {
		value := mark + strconv.Itoa(i)
		other := t.steps(run("b", "SELECT 1"), run("a", "SET stoa.doctor = '"+value+"'"))
		if other != nil {
			return other
		}
		if got := t.ask(t.sessions["b"], look); got.err != nil || strings.HasPrefix(got.value, mark) {
			return errors.Join(got.err, errors.New("a setting of one session showed in another"))
		}
		if got := t.ask(t.sessions["a"], look); got.err != nil || got.value != value {
			return errors.Join(got.err, errors.New("a setting did not stay in its session"))
		}
	}
	prepared, err := t.sessions["a"].conn.PrepareContext(t.ctx, "SELECT $1::integer")
	if err != nil {
		return err
	}
	defer func() { _ = prepared.Close() }()
	for range rounds / 10 {
		var got int
		if err := prepared.QueryRowContext(t.ctx, 1).Scan(&got); err != nil {
			return fmt.Errorf("a prepared statement: %w", err)
		}
		if err := t.step(run("b", "SELECT 1")); err != nil {
			return err
		}
	}
	return nil
}

// noticeWait bounds the wait for a notice.
const noticeWait = 5 * time.Second

func hearNotices(t *trial) error {
	channel := t.schema + "_notices"
	notices := make(chan *pq.Notification, 4)
	listener, err := pq.NewListenerConn(t.address, notices)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	if _, err := listener.ExecSimpleQuery("LISTEN " + channel); err != nil {
		return err
	}
	defer func() { _, _ = listener.ExecSimpleQuery("UNLISTEN " + channel) }()
	if err := t.step(run("b", "NOTIFY "+channel+", 'heard'")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.ctx, noticeWait)
	defer cancel()
	select {
	case notice, open := <-notices:
		if !open {
			return errors.New("the connection that listened was closed")
		}
		if notice.Channel != channel || notice.Extra != "heard" {
			return fmt.Errorf("the notice was %q on %q", notice.Extra, notice.Channel)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no notice came within %v", noticeWait)
	}
}

// holdLock holds a lock in a session, looks for it from another, and ends the session.
func holdLock(t *trial) error {
	key := randomKey()
	tried := "SELECT pg_try_advisory_lock(7061, " + key + ")"
	release := run("a", "SELECT pg_advisory_unlock(7061, "+key+")")
	err := t.steps(run("a", "SELECT pg_advisory_lock(7061, "+key+")"), gives("b", tried, "false"), gives("b",
		`SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database()
		AND l.locktype = 'advisory' AND l.classid = 7061 AND l.objid = `+key+" AND l.objsubid = 2 AND l.granted", "1"))
	if err != nil {
		return errors.Join(err, t.steps(release, run("b", release.sql)))
	}
	holder := t.sessions["a"]
	delete(t.sessions, "a")
	if err := endSession(holder); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(lockLook) {
		err := t.step(gives("b", tried, "true"))
		if err == nil {
			return t.step(gives("b", release.sql, "true"))
		}
		if time.Since(began) > noticeWait {
			return fmt.Errorf("%v after its session ended: %w", noticeWait, err)
		}
	}
}

// endSession closes the connection, which a pool would keep.
func endSession(s *session) error {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	if err := s.conn.Close(); !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}
