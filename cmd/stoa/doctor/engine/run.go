package engine

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
)

// check tries one feature. It is a block of doctor.sql, which explains the words.
type check struct {
	name, tried, promise string
	direct               bool
	steps                []step
}

// step is a statement of a session, or a word without one. argument is the expected value or code, or how often a part is
// repeated.
type step struct{ session, verb, argument, sql string }

//go:embed doctor.sql
var blocks string

// checks are the features that Stoa rests on. TestTheSchemaRestsOnNothingElse compares them with a migrated database.
var checks = parse(blocks)

func parse(text string) (found []check) {
	_, text, _ = strings.Cut(text, "\n\n-- check ") // behind the explanation
	for block := range strings.SplitSeq(text, "\n-- check ") {
		head, rest, _ := strings.Cut(block, "\n-- breaks ")
		var c check
		c.name, c.tried, _ = strings.Cut(head, "\n-- tried ")
		c.promise, rest, _ = strings.Cut(rest, "\n")
		for part := range strings.SplitSeq("\n"+rest, "\n-- ") {
			words, statement, _ := strings.Cut(part, "\n")
			first, argument, _ := strings.Cut(words, " ")
			switch first {
			case "":
			case "direct":
				c.direct = true
			case "repeat", "end":
				c.steps = append(c.steps, step{verb: first, argument: argument})
			default:
				verb, argument, _ := strings.Cut(argument, " ")
				c.steps = append(c.steps, step{first, verb, argument, strings.TrimSpace(statement)})
			}
		}
		found = append(found, c)
	}
	return found
}

// run returns an error that describes the server's behaviour if it is wrong.
func (c check) run(ctx context.Context, config Config, schema string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	address := config.Address
	if c.direct {
		address = config.Direct
	}
	pool, err := open(address)
	if err != nil {
		return err
	}
	defer pool.Close()
	var key [4]byte
	_, _ = rand.Read(key[:]) // it never fails
	t := &trial{ctx: ctx, pool: pool, schema: schema, spread: config.Spread, sessions: make(map[string]*session)}
	t.key = strconv.FormatUint(uint64(binary.BigEndian.Uint32(key[:])>>1), 10)
	defer t.close()
	if err := t.run(c.steps); !errors.Is(err, errUndecided) {
		return err
	}
	return nil
}

// trial is a check under way.
type trial struct {
	//nolint:containedctx // of one check
	ctx            context.Context
	pool           *sql.DB
	schema, spread string
	sessions       map[string]*session
	// key, saved and round are the values of $k, $saved and $i.
	key, saved, round string
	last              []step // steps that always run
}

// session is one connection.
type session struct {
	conn     *sql.Conn
	underWay chan outcome // of a statement that was only started
	heard    string       // the last notice
}

// outcome of a statement: its first row, as text.
type outcome struct {
	value string
	err   error
}

func open(address string) (*sql.DB, error) {
	connector, err := pq.NewConnector(address)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// close ends all sessions, and with them their transactions and locks. Behind a pooler that shares connections a lock or a
// setting could stay, so the blocks that make them also undo them.
func (t *trial) close() {
	ctx := context.WithoutCancel(t.ctx)
	for name, s := range t.sessions {
		if s.underWay != nil {
			<-s.underWay // the context has ended or the statement has
		}
		_, _ = s.conn.ExecContext(ctx, "ROLLBACK") // without a transaction it only warns
		for _, one := range t.last {
			if one.session == name {
				_, _ = s.conn.ExecContext(ctx, t.text(one.sql))
			}
		}
		_ = s.conn.Close()
	}
}

func (t *trial) text(statement string) string {
	return strings.NewReplacer("$saved", t.saved, "$s", t.schema, "$k", t.key, "$i", t.round).Replace(statement)
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
	_ = conn.Raw(func(raw any) error {
		if c, ok := raw.(driver.Conn); ok {
			pq.SetNotificationHandler(c, func(n *pq.Notification) { s.heard = n.Extra })
		}
		return nil
	})
	return s, nil
}

// ask runs a statement of one column without parameters, so in one round trip. A missing row is the value "none".
func (t *trial) ask(s *session, text string) outcome {
	rows, err := s.conn.QueryContext(t.ctx, text)
	if err != nil {
		return outcome{err: err}
	}
	defer rows.Close()
	value := sql.NullString{String: "none"}
	if rows.Next() {
		if err := rows.Scan(&value); err != nil {
			return outcome{err: err}
		}
	}
	for rows.Next() { // an error may come behind rows
	}
	return outcome{value: value.String, err: rows.Err()}
}

// errUndecided means that the rest of a block does not count.
var errUndecided = errors.New("transactions of others hide the outcome")

func (t *trial) run(steps []step) error {
	for i := 0; i < len(steps); i++ {
		if steps[i].verb != "repeat" {
			if err := t.step(steps[i]); err != nil {
				return err
			}
			continue
		}
		end := i + slices.IndexFunc(steps[i:], func(s step) bool { return s.verb == "end" })
		times, err := strconv.Atoi(steps[i].argument)
		for round := 0; round < times && err == nil; round++ {
			t.round = strconv.Itoa(round)
			err = t.run(steps[i+1 : end])
		}
		if err != nil {
			return err
		}
		i = end
	}
	return nil
}

const (
	pause      = 5 * time.Millisecond
	startWait  = 100 * time.Millisecond // for a statement to reach the lock for which it must wait
	othersWait = time.Second            // for the end of others' transactions
	noticeWait = 5 * time.Second        // for a notice, and for what the end of a session gives back
)

// step runs a step and compares its outcome.
func (t *trial) step(wanted step) error {
	if wanted.verb == "finally" {
		t.last = append(t.last, wanted)
		return nil
	}
	s, err := t.session(wanted.session)
	if err != nil {
		return err
	}
	text := t.text(wanted.sql)
	once := func() error { return t.compare(wanted, t.ask(s, text)) }
	switch wanted.verb {
	case "starts", "sends":
		s.underWay = make(chan outcome, 1)
		go func() { s.underWay <- t.ask(s, text) }()
		if wanted.verb == "starts" {
			time.Sleep(startWait)
		}
	case "ends":
		got := <-s.underWay
		s.underWay = nil
		return t.compare(wanted, got)
	case "saves":
		got := t.ask(s, text)
		t.saved = got.value
		return t.compare(wanted, got)
	case "until":
		if again(othersWait, 0, once) != nil {
			return errUndecided
		}
	case "awaits":
		return again(noticeWait, pause, once)
	case "hears":
		return again(noticeWait, pause, func() error {
			if got := t.ask(s, "SELECT 1"); got.err != nil || s.heard == wanted.argument {
				return got.err
			}
			return fmt.Errorf("no notice came within %v", noticeWait)
		})
	case "leaves": // a pool would keep the connection
		delete(t.sessions, wanted.session)
		_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
		if err := s.conn.Close(); !errors.Is(err, sql.ErrConnDone) {
			return err
		}
	default:
		if err := once(); err != nil {
			return err
		}
		return t.distribute(s, wanted)
	}
	return nil
}

// again tries until it succeeds, for a while.
func again(wait, pause time.Duration, try func() error) error {
	for began := time.Now(); ; time.Sleep(pause) {
		if err := try(); err == nil || time.Since(began) > wait {
			return err
		}
	}
}

var makesTable = regexp.MustCompile(`^CREATE TABLE (\S+) `)

// distribute runs Config.Spread, if it is set, for a new table.
func (t *trial) distribute(s *session, made step) error {
	name := makesTable.FindStringSubmatch(made.sql)
	if name == nil || t.spread == "" {
		return nil
	}
	spread := strings.ReplaceAll(t.spread, "%s", name[1])
	if got := t.ask(s, t.text(spread)); got.err != nil {
		return fmt.Errorf("%s: %w", strings.ReplaceAll(spread, "$s.", ""), got.err)
	}
	return nil
}

// compare returns an error if the outcome of a statement is not the wanted one.
func (t *trial) compare(wanted step, got outcome) error {
	expected := "success"
	if refused, ok := errors.AsType[*pq.Error](got.err); wanted.verb == "refuses" {
		if ok && string(refused.Code) == wanted.argument {
			return nil
		}
		expected = "error " + wanted.argument
	} else if wanted.argument != "" {
		if got.err == nil && got.value == wanted.argument {
			return nil
		}
		expected = wanted.argument
	} else if got.err == nil {
		return nil
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(t.text(wanted.sql), t.schema+".", "")), " ")
	if text == "" {
		text = "the statement that was started"
	}
	if got.err != nil {
		return fmt.Errorf("%s: %w, expected %s", text, got.err, expected)
	}
	return fmt.Errorf("%s: got %s, expected %s", text, got.value, expected)
}
