package attachments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Target is a record that files are bound to: the agent of an image, a post, or the inputs, drafts or results of an order.
type Target struct {
	Use Use
	ID  uuid.UUID
}

// Bind makes ids, which are all different, the files of a target in that order, inside the caller's transaction. Files that were
// bound to the target and are not among them become unbound, and are deleted 30 days later unless they are bound again (§8). A
// file that is newly bound must belong to the owner, have the use's purpose and be ready with its bytes (else
// invalid_attachment), and not be bound to anything else (else attachment_already_bound). A file of a draft may become a result
// of its order. The caller has decided that the owner may do this and holds the target's lock.
func Bind(ctx context.Context, tx *db.Tx, owner uuid.UUID, target Target, ids []uuid.UUID) error {
	if err := lockBindable(ctx, tx, owner, target, ids); err != nil {
		return err
	}
	if err := db.Exec(ctx, tx.SQL, named("unbind_files"), target.ID, target.Use, db.IDs(ids)); err != nil {
		return err
	}
	return db.Exec(ctx, tx.SQL, named("bind_files"), target.ID, target.Use, db.IDs(ids))
}

// BindMore adds ids, which are all different, to the files of a target, in no order. Files that are already bound to it stay. It
// has the faults of Bind.
func BindMore(ctx context.Context, tx *db.Tx, owner uuid.UUID, target Target, ids []uuid.UUID) error {
	if err := lockBindable(ctx, tx, owner, target, ids); err != nil {
		return err
	}
	return db.Exec(ctx, tx.SQL, named("bind_files"), target.ID, target.Use, db.IDs(ids))
}

// lockBindable locks the files ids and the files of the target. Its fault names the first of ids that may not be bound.
func lockBindable(ctx context.Context, tx *db.Tx, owner uuid.UUID, target Target, ids []uuid.UUID) error {
	found, err := db.All[row](ctx, tx.SQL, named("lock_files"), db.IDs(ids), target.ID, target.Use)
	if err != nil {
		return err
	}
	taken := -1
	for i, id := range ids {
		at := slices.IndexFunc(found, func(r *row) bool { return r.ID == id })
		if at < 0 || !found[at].bindable(owner, target) {
			return blame(fault.InvalidAttachment, target, i, "must be yours, ready, and uploaded with the purpose "+string(purposeOf[target.Use]))
		}
		if taken < 0 && found[at].boundElsewhere(target) {
			taken = i
		}
	}
	if taken >= 0 {
		return blame(fault.AttachmentAlreadyBound, target, taken, "serves another thing; upload it once more, with another upload_id")
	}
	return nil
}

// blame returns a fault that names the field of the i-th file.
func blame(code fault.Code, target Target, i int, reason string) error {
	field := fieldOf[target.Use]
	if strings.Contains(field, "%") {
		field = fmt.Sprintf(field, i)
	}
	return fault.Field(code, field, reason)
}

// Unbind ends the use of every file of a target, like Bind without files.
func Unbind(ctx context.Context, tx *db.Tx, target Target) error {
	return db.Exec(ctx, tx.SQL, named("unbind_files"), target.ID, target.Use, db.IDs(nil))
}

// bindable reports whether the file may be bound to the target. A file that is bound to it already needs no bytes.
func (r *row) bindable(owner uuid.UUID, target Target) bool {
	if r.OwnerID != owner || r.Purpose != purposeOf[target.Use] || r.Status != attachment.StatusReady {
		return false
	}
	return r.DeletedAt == nil || (r.BoundID != nil && *r.BoundID == target.ID && *r.BoundKind == target.Use)
}

func (r *row) boundElsewhere(target Target) bool {
	if r.BoundID == nil {
		return false
	}
	delivered := target.Use == AsOrderResult && *r.BoundKind == AsOrderDraft
	return *r.BoundID != target.ID || (*r.BoundKind != target.Use && !delivered)
}

// Bound returns the cards of the files of many targets in one query, in the order in which they were bound. The caller has
// decided that reader (uuid.Nil if anonymous) may see the targets: participants see an order's files in full; only the owner sees
// name and hash of other files. q is a pool or a transaction.
func Bound(ctx context.Context, q db.Querier, reader uuid.UUID, targets ...Target) (map[Target][]*Card, error) {
	cards := make(map[Target][]*Card, len(targets))
	if len(targets) == 0 {
		return cards, nil
	}
	ids, kinds := make([]uuid.UUID, len(targets)), make(pq.StringArray, len(targets))
	for i, t := range targets {
		ids[i], kinds[i] = t.ID, string(t.Use)
	}
	found, err := db.All[row](ctx, q, named("bound_files"), db.IDs(ids), kinds)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		target := Target{Use: *r.BoundKind, ID: *r.BoundID}
		cards[target] = append(cards[target], newCard(r, r.rightsWithin(reader)))
	}
	return cards, nil
}

// Listed returns the cards of files by their ids, as Bound returns them.
func Listed(ctx context.Context, q db.Querier, reader uuid.UUID, ids ...uuid.UUID) (map[uuid.UUID]*Card, error) {
	cards := make(map[uuid.UUID]*Card, len(ids))
	if len(ids) == 0 {
		return cards, nil
	}
	found, err := db.All[row](ctx, q, named("listed_files"), db.IDs(ids))
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		cards[r.ID] = newCard(r, r.rightsWithin(reader))
	}
	return cards, nil
}

// rightsWithin returns the rights of a reader who may see the record that the file is bound to.
func (r *row) rightsWithin(reader uuid.UUID) rights {
	switch {
	case r.OwnerID == reader:
		return ofOwner
	case r.Purpose == Order:
		return ofParticipant
	default:
		return ofPublic
	}
}

// Confirm records that the owner claims the right to publish these files. The claim stays, even if the files are bound to other
// records later (§2.2).
func Confirm(ctx context.Context, tx *db.Tx, owner uuid.UUID, ids []uuid.UUID) error {
	return db.Exec(ctx, tx.SQL, named("confirm_rights"), owner, db.IDs(ids))
}

// Confirmed reports whether the owner has claimed the right to publish every one of these files, which are all different.
func Confirmed(ctx context.Context, tx *db.Tx, owner uuid.UUID, ids []uuid.UUID) (bool, error) {
	n, err := db.Column[int](ctx, tx.SQL, named("count_confirmed"), owner, db.IDs(ids))
	return err == nil && n[0] == len(ids), err
}
