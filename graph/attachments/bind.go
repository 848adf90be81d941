package attachments

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Target is what files are bound to: the agent of an image, a post, or the inputs or results of an order.
type Target struct {
	Use Use
	ID  uuid.UUID
}

const lockFiles = `
SELECT ` + columns + ` FROM attachments a WHERE a.id = ANY ($1::uuid[]) OR (a.bound_id = $2 AND a.bound_kind = $3) ORDER BY a.id FOR UPDATE`

const unbind = `
UPDATE attachments SET bound_kind = NULL, bound_id = NULL, position = 0, unbound_at = stoa_now()
WHERE bound_id = $1 AND bound_kind = $2 AND id <> ALL ($3::uuid[])`

const bind = `
UPDATE attachments a SET bound_id = $1, bound_kind = $2, position = f.position, unbound_at = NULL
FROM unnest($3::uuid[]) WITH ORDINALITY AS f (id, position) WHERE a.id = f.id`

// Bind makes ids, which are all different, the files of a target in that order, inside the transaction that decides so. What
// was bound to the target and is not among them becomes unbound, to be bound again or cleaned up 30 days later (§8). A file
// that is newly bound must be the owner's, of the use's purpose and ready with its bytes, else invalid_attachment; and bound to
// nothing else, else attachment_already_bound. The caller has decided that the owner may do this and holds the target's lock.
func Bind(ctx context.Context, tx *db.Tx, owner uuid.UUID, target Target, ids []uuid.UUID) error {
	found, err := locked(ctx, tx, target, ids)
	if err != nil {
		return err
	}
	var taken bool
	for _, id := range ids {
		at := slices.IndexFunc(found, func(r *record) bool { return r.ID == id })
		if at < 0 || !found[at].usable(owner, target) {
			return fault.New(fault.InvalidAttachment)
		}
		taken = taken || found[at].boundElsewhere(target)
	}
	if taken {
		return fault.New(fault.AttachmentAlreadyBound)
	}
	if _, err := tx.SQL.ExecContext(ctx, unbind, target.ID, target.Use, pq.Array(texts(ids))); err != nil {
		return err
	}
	_, err = tx.SQL.ExecContext(ctx, bind, target.ID, target.Use, pq.Array(texts(ids)))
	return err
}

// Unbind ends the use of every file of a target, as Bind of no files does.
func Unbind(ctx context.Context, tx *db.Tx, target Target) error {
	_, err := tx.SQL.ExecContext(ctx, unbind, target.ID, target.Use, pq.Array([]string{}))
	return err
}

// usable tells whether the file may be among the target's files; one that is already may even have lost its bytes.
func (r *record) usable(owner uuid.UUID, target Target) bool {
	if r.OwnerID != owner || r.Purpose != uses[target.Use] || r.Status != attachment.StatusReady {
		return false
	}
	return r.DeletedAt == nil || (r.BoundID != nil && !r.boundElsewhere(target))
}

func (r *record) boundElsewhere(target Target) bool {
	return r.BoundID != nil && (*r.BoundID != target.ID || *r.BoundKind != target.Use)
}

func locked(ctx context.Context, tx *db.Tx, target Target, ids []uuid.UUID) ([]*record, error) {
	rows, err := tx.SQL.QueryContext(ctx, lockFiles, pq.Array(texts(ids)), target.ID, target.Use)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*record
	for rows.Next() {
		r := new(record)
		if err := rows.Scan(r.targets()...); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

func texts(ids []uuid.UUID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return list
}
