package attachments

import (
	"context"

	"stoa/graph/platform/db"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

const readBound = `
SELECT ` + columns + ` FROM attachments a JOIN unnest($1::uuid[], $2::text[]) AS t (id, use) ON a.bound_id = t.id AND a.bound_kind = t.use
ORDER BY a.bound_id, a.bound_kind, a.position`

// Bound returns the cards of the files of many targets in one query, in the order in which they were bound. The caller has
// decided that reader (uuid.Nil for nobody in particular) may see the targets: an order's files show whole, to its
// participants; of the others' files only their owner sees name and hash. q is a pool or a transaction.
func Bound(ctx context.Context, q db.Querier, reader uuid.UUID, targets ...Target) (map[Target][]*Card, error) {
	if len(targets) == 0 {
		return map[Target][]*Card{}, nil
	}
	ids, kinds := make([]string, len(targets)), make([]string, len(targets))
	for i, t := range targets {
		ids[i], kinds[i] = t.ID.String(), string(t.Use)
	}
	rows, err := q.QueryContext(ctx, readBound, pq.Array(ids), pq.Array(kinds))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cards := make(map[Target][]*Card, len(targets))
	for rows.Next() {
		r := new(record)
		if err := rows.Scan(r.targets()...); err != nil {
			return nil, err
		}
		at := Target{Use: *r.BoundKind, ID: *r.BoundID}
		cards[at] = append(cards[at], newCard(r, r.rightsWithin(reader)))
	}
	return cards, rows.Err()
}

// rightsWithin are the rights of someone who may see what the file is bound to.
func (r *record) rightsWithin(reader uuid.UUID) rights {
	switch {
	case r.OwnerID == reader:
		return ofOwner
	case r.Purpose == Order:
		return ofParticipant
	default:
		return ofPublic
	}
}
