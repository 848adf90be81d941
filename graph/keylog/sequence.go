package keylog

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
	format "stoa/rest/client/keylog"
)

// batch is the maximum number of queue rows that one run appends.
const batch = 4096

// queued is a row of the queue.
type queued struct {
	ID         int64         `db:"id"`
	Type       format.Type   `db:"type"`
	Label      []byte        `db:"label"`
	Commitment []byte        `db:"commitment"`
	SubjectID  uuid.NullUUID `db:"subject_id"`
	Salt       []byte        `db:"salt"`
}

// Begin begins the log with the keys of the server, unless the log has begun. A process calls it when it starts.
func (a *API) Begin(ctx context.Context) error { return a.DB.Tx(ctx, a.begin) }

// Sequence appends at most 4,096 entries from the queue and returns their number. It begins the log if that has not begun. If
// another process is appending it does nothing; it appends nothing while this process refuses to sign the head (ErrBehind,
// ErrForked). Only jobs and the start of a process call it.
func (a *API) Sequence(ctx context.Context) (appended int64, err error) {
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

// appendQueued appends entries to the log. Rows of the queue are deleted from it; other rows have no id. The caller has locked
// the rows and the head.
func appendQueued(ctx context.Context, q db.Querier, head Head, rows []*queued) (int64, error) {
	taken, subjects := make([]int64, len(rows)), make([]uuid.UUID, 0, len(rows))
	for i, r := range rows {
		taken[i] = r.ID
		if r.Type == format.TypeAgent {
			subjects = append(subjects, r.SubjectID.UUID)
		}
	}
	// This statement follows the one that locked the rows: an agent that was deleted before shows as deleted, and one that is
	// being deleted waits for the row of the queue before it erases the salt.
	agents, err := db.All[agent](ctx, q, named("read_agents"), db.IDs(subjects))
	if err != nil {
		return 0, err
	}
	byID := make(map[uuid.UUID]*agent, len(agents))
	for _, found := range agents {
		byID[found.ID] = found
	}
	host, _, err := format.HostOf(head.Origin)
	if err != nil {
		return 0, err
	}
	var (
		entries, salts [][]byte
		opened         []uuid.UUID
		indexes        []int64
	)
	for _, r := range rows {
		raw, salt := slices.Concat([]byte{byte(r.Type)}, r.Label, r.Commitment), r.Salt
		if r.Type == format.TypeAgent {
			waiting := byID[r.SubjectID.UUID]
			if waiting == nil {
				continue // a label that is in the log must not occur again
			}
			delete(byID, r.SubjectID.UUID)
			raw, salt = waiting.entry(host)
		}
		if r.Type == format.TypeKey {
			r.SubjectID = uuid.NullUUID{UUID: subjectOf(raw), Valid: true}
		}
		if r.SubjectID.Valid {
			opened, indexes, salts = append(opened, r.SubjectID.UUID), append(indexes, head.Size+int64(len(entries))), append(salts, salt)
		}
		entries = append(entries, raw)
	}
	if err := db.Exec(ctx, q, named("drop_queue"), pq.Int64Array(taken)); err != nil || len(entries) == 0 {
		return 0, err
	}
	err = db.Exec(ctx, q, named("add_openings"), db.IDs(opened), pq.Int64Array(indexes), pq.ByteaArray(salts))
	if err != nil {
		return 0, err
	}
	tree := new(edge)
	if head.Size > 0 {
		if tree, err = readEdge(head.Size, hashesOf(ctx, q, head)); err != nil {
			return 0, fmt.Errorf("keylog: %w", err)
		}
	}
	for _, entry := range entries {
		tree.append(entry)
	}
	return int64(len(entries)), tree.write(ctx, q, head.Epoch, head.Size, entries)
}

// begin begins the log, unless it has begun: its first entries are the keys of the server.
func (a *API) begin(ctx context.Context, tx *db.Tx) error {
	head := Head{Epoch: 1, Origin: format.Origin(hostname(a.Origin), 1)}
	if n, err := db.Changed(ctx, tx.SQL, named("add_head"), head.Epoch, head.Origin); err != nil || n == 0 {
		return err
	}
	var keys []*queued
	for _, purpose := range []string{PurposeLog, PurposeReceipts} {
		entry := a.keyEntry(purpose, 1)
		keys = append(keys, &queued{Type: entry.Type, Label: entry.Label[:], Commitment: entry.Commitment[:]})
	}
	_, err := appendQueued(ctx, tx.SQL, head, keys)
	return err
}

// hostname is the host of an origin, with its port.
func hostname(origin string) string {
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		return u.Host
	}
	return "localhost"
}

// subjectOf is the subject of a key's entry in log_openings: the beginning of the entry's hash.
func subjectOf(entry []byte) uuid.UUID {
	sum := sha256.Sum256(entry)
	return uuid.UUID(sum[:16])
}

// agent holds the fields that the entry of an agent is made of. Its key is empty if the agent is deleted.
type agent struct {
	ID        uuid.UUID `db:"id"`
	Handle    string    `db:"handle"`
	Key       string    `db:"key"`
	CreatedAt time.Time `db:"created_at"`
}

// entry returns the agent's entry in the log of a host, and the salt that opens it. The commitment of a deleted agent reveals
// nothing, and the salt is nil.
func (a *agent) entry(host string) (raw, salt []byte) {
	if a.Key == "" {
		entry := format.Entry{Type: format.TypeAgent, Label: format.AgentLabel(host, a.Handle)}
		_, _ = rand.Read(entry.Commitment[:]) // it never fails
		return entry.Bytes(), nil
	}
	salt = make([]byte, format.SaltSize)
	_, _ = rand.Read(salt)
	at := a.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z") // as the card has it
	return format.Agent{ID: a.ID.String(), Handle: a.Handle, Key: a.Key, CreatedAt: at}.Entry(host, salt).Bytes(), salt
}

// copied is the number of entries that NewEpoch copies at a time.
const copied = 16 * tileWidth

// NewEpoch ends the present epoch and begins the next one, whose first entry names the former origin and root; the former entries
// follow in their order, then the entries of the queue. signed is the greatest signed head, or nil if it is unknown. The new
// epoch's number is also above the epoch of signed, and the reason names the loss. It returns the new head, or nil if the log has
// not begun. Only operators' commands call it, on a pool whose statements may take long.
func NewEpoch(ctx context.Context, q db.Querier, signed *Head, reason string) (*Head, error) {
	present, err := db.All[Head](ctx, q, named("wait_for_head"))
	if err != nil || len(present) == 0 {
		return nil, err
	}
	former := *present[0]
	host, _, err := format.HostOf(former.Origin)
	if err != nil {
		return nil, err
	}
	next := Head{Epoch: former.Epoch + 1}
	if signed != nil {
		next.Epoch = max(next.Epoch, signed.Epoch+1)
		if signed.exceeds(former) {
			reason += fmt.Sprintf(" (%s was signed with %d entries, and %d are left)", signed.Origin, signed.Size, former.Size)
		}
	}
	next.Origin = format.Origin(host, next.Epoch)
	if err := db.Exec(ctx, q, named("end_head"), former.Epoch, reason); err != nil {
		return nil, err
	}
	added, err := db.Changed(ctx, q, named("add_head"), next.Epoch, next.Origin)
	if err != nil {
		return nil, err
	}
	if added != 1 {
		return nil, fmt.Errorf("keylog: there is an epoch %d already", next.Epoch)
	}
	tree, check := new(edge), new(edge)
	for entries := [][]byte{format.EpochEntry(former.Origin, tlog.Hash(former.Root)).Bytes()}; len(entries) > 0; {
		at := tree.Size
		for _, raw := range entries {
			tree.append(raw)
		}
		if err := tree.write(ctx, q, next.Epoch, at, entries); err != nil {
			return nil, err
		}
		done := check.Size
		if entries, err = db.Column[[]byte](ctx, q, named("list_entries"), former.Epoch, done, min(done+copied, former.Size)); err != nil {
			return nil, err
		}
		for _, raw := range entries {
			check.append(raw)
		}
	}
	if check.Size != former.Size || former.Size > 0 && check.Root() != tlog.Hash(former.Root) {
		return nil, fmt.Errorf("keylog: %w: %s", errDiffers, former.Origin)
	}
	if err := db.Exec(ctx, q, named("move_openings")); err != nil {
		return nil, err
	}
	root := tree.Root()
	next.Size, next.Root = tree.Size, root[:]
	return &next, nil
}
