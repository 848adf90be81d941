package world

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"stoa/cmd/bench/machine"
)

//go:embed messages.sql
var messagesText string

const (
	// messageDays is over how many days messages are spread: none of them has expired.
	messageDays = 89
	// messagesPerStatement is how many messages one statement adds.
	messagesPerStatement = 1_000_000
	// weeks is into how many partitions the table of messages is divided, of a week each; the first and the last one are open.
	weeks = 14
	// oldestDays is how many days are in the first partition.
	oldestDays = messageDays - 7*(weeks-2)
)

// createTimeID creates bench.time_id, which makes the id that the server gives at a time, for the n-th of all messages.
const createTimeID = `
CREATE OR REPLACE FUNCTION bench.time_id(at timestamptz, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid
$$`

// partitionMessages makes an empty table of messages that consists of a partition for each week, with the same keys and indexes. Ids
// begin with the time, so that they say in which one a message is.
const partitionMessages = `
ALTER TABLE messages RENAME TO messages_whole;
CREATE TABLE messages (LIKE messages_whole INCLUDING ALL) PARTITION BY RANGE (id);
DROP TABLE messages_whole;`

// FillMessages replaces all messages by count ones with their guards, spread evenly over the friendships and the last messageDays. Where
// weekly is set, the table has a partition for each week.
func (w *World) FillMessages(ctx context.Context, count int, weekly bool) error {
	if _, err := w.DB.ExecContext(ctx, createTimeID+"; TRUNCATE messages, message_guards"); err != nil {
		return err
	}
	if weekly {
		if err := w.divideMessages(ctx); err != nil {
			return err
		}
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after the commit
	indexes, err := dropIndexes(ctx, tx, "messages", "message_guards")
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for from := 1; from <= count; from += messagesPerStatement {
		until := min(from+messagesPerStatement-1, count)
		for insert := range strings.SplitSeq(strings.TrimSpace(messagesText), ";\n") {
			if _, err := w.DB.ExecContext(ctx, insert, from, until, count, w.agents, messageDays); err != nil {
				return fmt.Errorf("filling messages: %w", err)
			}
		}
	}
	for i, definition := range indexes {
		indexes[i] = strings.Replace(definition, " ON ONLY ", " ON ", 1) // of a partitioned table: on all partitions
	}
	if err := w.createIndexes(ctx, indexes); err != nil {
		return err
	}
	return w.settle(ctx)
}

func (w *World) divideMessages(ctx context.Context) error {
	if _, err := w.DB.ExecContext(ctx, partitionMessages); err != nil {
		return err
	}
	const week = 7 * 24 * time.Hour
	now := time.Now() // one for all, or there is a gap between two partitions
	begin := func(i int) string {
		switch i {
		case 0:
			return "MINVALUE"
		case weeks:
			return "MAXVALUE"
		}
		return fmt.Sprintf("'%012x70008000000000000000'", now.Add(-week*time.Duration(weeks-1-i)).UnixMilli())
	}
	for i := range weeks {
		from, to := begin(i), begin(i+1)
		if _, err := w.DB.ExecContext(ctx, fmt.Sprintf("CREATE TABLE messages_%d PARTITION OF messages FOR VALUES FROM (%s) TO (%s)",
			i, from, to)); err != nil {
			return err
		}
	}
	return nil
}

// Removal says how long it took to remove the oldest messages.
type Removal struct {
	Messages int64
	// Took is the time, Processor that of PostgreSQL's processors.
	Took, Processor time.Duration
}

const (
	// expire is the statement by which the server's job deletes messages, of a time in place of the time of expiry.
	expire = `DELETE FROM messages WHERE id IN (
  SELECT id FROM messages WHERE expires_at <= $1 ORDER BY expires_at LIMIT 500 FOR UPDATE SKIP LOCKED)`
	oldestPartition = "messages_0"
)

// RemoveOldest removes the messages of the first partition: with it where the table has partitions, or else as the server's job
// does, followed by the cleaning of the table that the database does later by itself. Nothing else may use the database.
func (w *World) RemoveOldest(ctx context.Context, weekly bool) (r Removal, err error) {
	var last time.Time
	if err := w.DB.QueryRowContext(ctx, `SELECT t.last, (SELECT count(*) FROM messages WHERE expires_at <= t.last)
		FROM (SELECT min(expires_at) + make_interval(days => $1) AS last FROM messages) t`, oldestDays).Scan(&last, &r.Messages); err != nil {
		return r, err
	}
	before, err := machine.TreeCPU(w.Postmaster)
	if err != nil {
		return r, err
	}
	start := time.Now()
	if weekly {
		_, err = w.DB.ExecContext(ctx, "DROP TABLE "+oldestPartition)
	} else {
		err = w.expireMessages(ctx, last)
	}
	if err != nil {
		return r, err
	}
	after, err := machine.TreeCPU(w.Postmaster)
	r.Took, r.Processor = time.Since(start), after-before
	return r, err
}

func (w *World) expireMessages(ctx context.Context, until time.Time) error {
	for deleted := int64(1); deleted > 0; {
		done, err := w.DB.ExecContext(ctx, expire, until)
		if err != nil {
			return err
		}
		if deleted, err = done.RowsAffected(); err != nil {
			return err
		}
	}
	_, err := w.DB.ExecContext(ctx, "VACUUM messages")
	return err
}
