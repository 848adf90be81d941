// Package engine is `stoa doctor --database`: it checks each feature that Stoa needs on a database server, and names the promise
// of Stoa that breaks without the feature. The features are the blocks of doctor.sql.
//
// It works in its own schema, which it drops again, and holds locks only on its own rows and random keys. It may run beside other
// work. If it is killed, a schema whose name begins with stoa_doctor_ stays.
package engine

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// MinServerVersion is the first version of PostgreSQL that Stoa runs on, in the form of server_version_num.
const MinServerVersion = 15_00_00

const (
	// checkTimeout bounds one check, connectTimeout opening a session.
	checkTimeout   = 30 * time.Second
	connectTimeout = 10 * time.Second
	// schemaPrefix begins the name of the schema; random letters follow.
	schemaPrefix = "stoa_doctor_"
)

// Config selects the server to examine. It is read from the command line.
type Config struct {
	Address string `env:"-" name:"database" placeholder:"URL" help:"Try each feature that Stoa rests on against this database instead, in a schema that is dropped again."`
	Direct  string `env:"-" name:"database-direct" placeholder:"URL" help:"With --database: the same database without the pooler, for the features that need a session."`
	Spread  string `env:"-" name:"database-spread" placeholder:"SQL" help:"With --database: a statement that distributes a new table %s, for engines that need one; each table has a column id."`
}

// Result is the outcome of one check.
type Result struct {
	Name string `json:"name"`
	// Tried describes the check; Promise is the promise that breaks without the feature.
	Tried   string `json:"tried"`
	Promise string `json:"promise"`
	OK      bool   `json:"ok"`
	// Failure says how the server behaved instead; empty if OK.
	Failure string `json:"failure,omitempty"`
}

// Report is the outcome of all checks, in their order.
type Report struct {
	// Server holds the name that the server gives itself.
	Server  string   `json:"server"`
	Results []Result `json:"checks"`
}

// Examine runs all checks. It returns an error only if it cannot connect or cannot drop its schema.
func Examine(ctx context.Context, config Config) (report Report, err error) {
	if config.Direct == "" {
		config.Direct = config.Address
	}
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	pool, err := sql.Open("postgres", config.Address)
	if err == nil {
		defer pool.Close()
		err = pool.QueryRowContext(connecting, "SELECT version()").Scan(&report.Server)
	}
	if err != nil {
		return report, fmt.Errorf("cannot connect: %w", err)
	}
	schema := schemaPrefix + strings.ToLower(rand.Text()[:12])
	for _, c := range checks { // the first one makes the schema
		result, failure := c.Result, errNoSchema
		if len(report.Results) == 0 || report.Results[0].OK {
			failure = c.run(ctx, config, schema)
		}
		if result.OK = failure == nil; !result.OK {
			result.Failure = failure.Error()
		}
		report.Results = append(report.Results, result)
	}
	if report.Results[0].OK {
		drop := check{steps: []step{{session: "a", sql: "DROP SCHEMA $s CASCADE"}}}
		if err := drop.run(context.WithoutCancel(ctx), config, schema); err != nil {
			return report, fmt.Errorf("the schema %s could not be dropped: %w", schema, err)
		}
	}
	return report, nil
}

var errNoSchema = errors.New("not tried: there is no schema to try it in")

// Err returns an error that counts the failed checks; nil if all passed.
func (r Report) Err() error {
	failed := len(slices.DeleteFunc(slices.Clone(r.Results), func(result Result) bool { return result.OK }))
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d checks failed: Stoa does not keep its promises on this server", failed, len(r.Results))
}

// Print writes a line for each check. For a failed one it adds the server's behaviour and the broken promise.
func (r Report) Print(out io.Writer) {
	fmt.Fprintf(out, "%s\n\n", r.Server)
	for _, result := range r.Results {
		if result.OK {
			fmt.Fprintf(out, "ok    %s\n", result.Name)
			continue
		}
		fmt.Fprintf(out, "fails %s\n      tried:   %s\n      got:     %s\n      breaks:  %s\n",
			result.Name, result.Tried, result.Failure, result.Promise)
	}
}

// check tries one feature. It is a block of doctor.sql, which explains the words.
type check struct {
	Result // before it is run

	direct bool
	steps  []step
}

// step is a statement of a session, or a verb without a statement. argument is the expected value, code or notice.
type step struct{ session, verb, argument, sql string }

//go:embed doctor.sql
var blocks string

// checks are the features that Stoa needs. TestTheSchemaRestsOnNothingElse compares them with a migrated database.
var checks = parse(blocks)

func parse(text string) (found []check) {
	_, text, _ = strings.Cut(text, "\n\n-- check ") // behind the explanation
	for block := range strings.SplitSeq(text, "\n-- check ") {
		var c check
		for i, part := range strings.Split(block, "\n-- ") {
			words, statement, _ := strings.Cut(part, "\n")
			first, rest, _ := strings.Cut(words, " ")
			switch {
			case i == 0:
				c.Name = words
			case first == "tried":
				c.Tried = rest
			case first == "breaks":
				c.Promise = rest
			case first == "direct":
				c.direct = true
			default:
				verb, argument, _ := strings.Cut(rest, " ")
				c.steps = append(c.steps, step{first, verb, argument, strings.TrimSpace(statement)})
			}
		}
		found = append(found, c)
	}
	return found
}

// run returns an error that describes the server's behaviour if it is wrong.
func (c check) run(ctx context.Context, config Config, schema string) error {
	address := config.Address
	if c.direct {
		address = config.Direct
	}
	pool, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	defer pool.Close()
	key, _ := rand.Int(rand.Reader, big.NewInt(math.MaxInt32)) // it never fails
	t := &trial{
		pool: pool, schema: schema, spread: config.Spread, key: key.String(),
		sessions: make(map[string]*sql.Conn), started: make(map[string]chan outcome), heard: make(map[string]string),
	}
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	after := context.WithoutCancel(ctx)
	var failure error
	for _, s := range c.steps {
		if s.verb == "finally" {
			_ = t.step(after, s)
		} else if failure == nil {
			failure = t.step(limited, s)
		}
	}
	cancel()
	t.close(after)
	return failure
}

// trial is a check under way.
type trial struct {
	pool *sql.DB
	// schema and key are the values of $s and $k.
	schema, key, spread string
	sessions            map[string]*sql.Conn
	started             map[string]chan outcome // by session
	heard               map[string]string       // the last notice of each session
}

// outcome of a statement: its first row, as text.
type outcome struct {
	value string
	err   error
}

// close ends all sessions, and with them their transactions and locks. Behind a pooler that shares connections a lock or a
// setting could stay, so the blocks that make them also undo them.
func (t *trial) close(ctx context.Context) {
	for _, running := range t.started {
		<-running // its context has ended
	}
	for _, conn := range t.sessions {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // without a transaction it only warns
		_ = conn.Close()
	}
}

func (t *trial) text(statement string) string {
	return strings.NewReplacer("$s", t.schema, "$k", t.key).Replace(statement)
}

// session returns the session of a name, opened at its first use.
func (t *trial) session(ctx context.Context, name string) (*sql.Conn, error) {
	if conn, ok := t.sessions[name]; ok {
		return conn, nil
	}
	conn, err := t.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t.sessions[name] = conn
	return conn, conn.Raw(func(raw any) error {
		if c, ok := raw.(driver.Conn); ok {
			pq.SetNotificationHandler(c, func(n *pq.Notification) { t.heard[name] = n.Extra })
		}
		return nil
	})
}

// ask runs a statement of one column. It has no parameters, so it takes one round trip. A missing row is the value "none".
func ask(ctx context.Context, conn *sql.Conn, text string) outcome {
	rows, err := conn.QueryContext(ctx, text)
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

const (
	noticeWait  = 5 * time.Second
	noticePause = 5 * time.Millisecond
)

// step runs a step and compares its outcome.
func (t *trial) step(ctx context.Context, s step) error {
	conn, err := t.session(ctx, s.session)
	if err != nil {
		return err
	}
	text := t.text(s.sql)
	switch s.verb {
	case "starts":
		running := make(chan outcome, 1)
		t.started[s.session] = running
		go func() { running <- ask(ctx, conn, text) }()
		return nil
	case "ends":
		got := <-t.started[s.session]
		delete(t.started, s.session)
		return t.compare(s, got)
	case "hears":
		for began := time.Now(); t.heard[s.session] != s.argument; time.Sleep(noticePause) {
			if got := ask(ctx, conn, "SELECT 1"); got.err != nil {
				return got.err
			}
			if time.Since(began) > noticeWait {
				return fmt.Errorf("no notice came within %v", noticeWait)
			}
		}
		return nil
	case "leaves":
		delete(t.sessions, s.session)
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool would keep the connection
		return nil
	}
	if err := t.compare(s, ask(ctx, conn, text)); err != nil {
		return err
	}
	return t.distribute(ctx, conn, s)
}

var makesTable = regexp.MustCompile(`^CREATE TABLE (\S+) `)

// distribute runs Config.Spread, if it is set, for a new table.
func (t *trial) distribute(ctx context.Context, conn *sql.Conn, made step) error {
	name := makesTable.FindStringSubmatch(made.sql)
	if name == nil || t.spread == "" {
		return nil
	}
	spread := strings.ReplaceAll(t.spread, "%s", name[1])
	if got := ask(ctx, conn, t.text(spread)); got.err != nil {
		return fmt.Errorf("%s: %w", strings.ReplaceAll(spread, "$s.", ""), got.err)
	}
	return nil
}

// compare returns an error if the outcome of a statement is not the wanted one.
func (t *trial) compare(wanted step, got outcome) error {
	expected := "success"
	switch {
	case wanted.verb == "refuses" && pq.As(got.err, pqerror.Code(wanted.argument)) != nil:
		return nil //nolint:nilerr // it is the error that was wanted
	case wanted.verb == "refuses":
		expected = "error " + wanted.argument
	case got.err == nil && (wanted.argument == "" || got.value == wanted.argument):
		return nil
	case wanted.argument != "":
		expected = wanted.argument
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(wanted.sql, "$s.", "")), " ")
	if text == "" {
		text = "the statement that was started"
	}
	if got.err != nil {
		return fmt.Errorf("%s: %w, expected %s", t.text(text), got.err, expected)
	}
	return fmt.Errorf("%s: got %s, expected %s", t.text(text), got.value, expected)
}
