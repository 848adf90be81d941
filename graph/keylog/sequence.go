package keylog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
)

// batch is how many rows of the queue one run appends at most.
const batch = 4096

// queued is a row of the queue.
type queued struct {
	ID         int64         `db:"id"`
	Type       int           `db:"type"`
	Label      []byte        `db:"label"`
	Commitment []byte        `db:"commitment"`
	SubjectID  uuid.NullUUID `db:"subject_id"`
	Salt       []byte        `db:"salt"`
}

// Begin begins the log, unless it has begun: with the keys of the server. The start of a process calls it.
func (a *API) Begin(ctx context.Context) error { return a.DB.Tx(ctx, a.begin) }

// Sequence appends what waits in the queue, 4,096 entries at most, and returns how many. It begins the log if that has not
// begun. If another process is appending it does nothing; it appends nothing while this process refuses to sign the head
// (ErrBehind, ErrForked). Only jobs and the start of a process call it.
func (a *API) Sequence(ctx context.Context) (appended int64, err error) {
	waits, err := db.Column[bool](ctx, a.DB.SQL, named("sequence_waits"))
	if err != nil || !waits[0] {
		return 0, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (int64, error) {
		head, err := db.One[Head](ctx, tx.SQL, named("lock_head"))
		if errors.Is(err, sql.ErrNoRows) {
			return 0, a.begin(ctx, tx)
		}
		if err != nil {
			return 0, err
		}
		rows, err := db.All[queued](ctx, tx.SQL, named("take_queue"), batch)
		if err != nil || len(rows) == 0 {
			return 0, err
		}
		if err := a.continues(ctx, tx.SQL, *head); err != nil {
			return 0, err
		}
		return appendQueued(ctx, tx.SQL, *head, rows)
	})
}

// appendQueued appends rows of the queue, which are locked, to the log, whose head is locked.
func appendQueued(ctx context.Context, q db.Querier, head Head, rows []*queued) (int64, error) {
	taken, subjects := make([]int64, len(rows)), make([]uuid.UUID, 0, len(rows))
	for i, r := range rows {
		taken[i] = r.ID
		if r.Type == int(typeAgent) {
			subjects = append(subjects, r.SubjectID.UUID)
		}
	}
	// This statement follows the one that locked the rows: an agent that was deleted before shows as deleted, and one that is being
	// deleted waits for the row of the queue before it erases the salt.
	agents, err := db.All[agent](ctx, q, named("read_agents"), db.IDs(subjects))
	if err != nil {
		return 0, err
	}
	byID := make(map[uuid.UUID]*agent, len(agents))
	for _, found := range agents {
		byID[found.ID] = found
	}
	host, _ := hostOf(head.Origin)
	var (
		entries [][]byte
		opened  openings
	)
	for _, r := range rows {
		raw, salt := entry(byte(r.Type), r.Label, r.Commitment), r.Salt
		if r.Type == int(typeAgent) {
			waiting := byID[r.SubjectID.UUID]
			if waiting == nil {
				continue // it is in the log already, where no label may occur twice
			}
			delete(byID, r.SubjectID.UUID)
			raw, salt = waiting.entry(host)
		}
		if r.Type == int(typeKey) {
			r.SubjectID = uuid.NullUUID{UUID: subjectOf(raw), Valid: true}
		}
		if r.SubjectID.Valid {
			opened.add(r.SubjectID.UUID, head.Size+int64(len(entries)), salt)
		}
		entries = append(entries, raw)
	}
	if _, err := q.ExecContext(ctx, named("drop_queue").Text, pq.Int64Array(taken)); err != nil || len(entries) == 0 {
		return 0, err
	}
	if err := opened.write(ctx, q); err != nil {
		return 0, err
	}
	tree, err := readEdge(head.Size, hashesOf(ctx, q, head))
	if err != nil {
		return 0, fmt.Errorf("keylog: %w", err)
	}
	for _, entry := range entries {
		tree.append(entry)
	}
	return int64(len(entries)), tree.write(ctx, q, head.Epoch, head.Size, entries)
}

// openings are rows of log_openings.
type openings struct {
	subjects []uuid.UUID
	indexes  []int64
	salts    [][]byte
}

func (o *openings) add(subject uuid.UUID, index int64, salt []byte) {
	o.subjects, o.indexes, o.salts = append(o.subjects, subject), append(o.indexes, index), append(o.salts, salt)
}

func (o *openings) write(ctx context.Context, q db.Querier) error {
	if len(o.subjects) == 0 {
		return nil
	}
	_, err := q.ExecContext(ctx, named("add_openings").Text, db.IDs(o.subjects), pq.Int64Array(o.indexes), pq.ByteaArray(o.salts))
	return err
}

// begin begins the log, unless it has begun: its first entries are the keys of the server.
func (a *API) begin(ctx context.Context, tx *db.Tx) error {
	head := Head{Epoch: 1, Origin: origin(hostname(a.Origin), 1)}
	added, err := tx.SQL.ExecContext(ctx, named("add_head").Text, head.Epoch, head.Origin)
	if err != nil {
		return err
	}
	if n, err := added.RowsAffected(); err != nil || n == 0 {
		return err
	}
	entries := make([][]byte, 0, 2)
	for _, purpose := range []string{PurposeLog, PurposeReceipts} {
		entries = append(entries, a.keyEntry(purpose, 1))
	}
	tree, opened := new(edge), openings{}
	for i, entry := range entries {
		tree.append(entry)
		opened.add(subjectOf(entry), int64(i), nil)
	}
	if err := opened.write(ctx, tx.SQL); err != nil {
		return err
	}
	return tree.write(ctx, tx.SQL, head.Epoch, 0, entries)
}

// hostname is the host of an origin, with its port.
func hostname(origin string) string {
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		return u.Host
	}
	return "localhost"
}
