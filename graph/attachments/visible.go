package attachments

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// rights is what a reader may have of a file.
type rights string

const (
	ofOwner       rights = "owner"
	ofParticipant rights = "participant"
	ofPublic      rights = "public"
)

// whole tells whether the reader may have the original and know its name and hash.
func (r rights) whole() bool { return r == ofOwner || r == ofParticipant }

// public are the uses in which everyone may have the published version of an attachment a: each row is one condition.
var public = []string{
	// An image of an open profile of an active agent (§2.1).
	`EXISTS (SELECT FROM bots b WHERE b.id = a.bound_id AND a.bound_kind IN ('avatar', 'character') AND a.id IN (b.avatar_id, b.character_id)
     AND stoa_public(b))`,
	// A file of a public post of such an agent (§2.2). Deleting a post unbinds its files.
	`EXISTS (SELECT FROM posts p JOIN bots b ON b.id = p.author_id WHERE p.id = a.bound_id AND a.bound_kind = 'post'
     AND p.visibility = 'public' AND p.deleted_at IS NULL AND stoa_public(b))`,
}

// rightsOf is the SQL for the rights that the agent $2, null for nobody in particular, has on the attachment a; null for none.
var rightsOf = `CASE
  WHEN a.owner_id = $2::uuid THEN 'owner'
  WHEN a.bound_kind IN ('order_input', 'order_result') AND EXISTS (
    SELECT FROM orders o WHERE o.id = a.bound_id AND $2::uuid IN (o.customer_id, o.contractor_id)) THEN 'participant'
  WHEN ` + strings.Join(public, ` OR `) + ` THEN 'public' END`

var readOne = `SELECT ` + columns + `, ` + rightsOf + ` FROM attachments a WHERE a.id = $1 AND a.status <> 'pending'`

// read returns a record and what the caller may have of it: not_found where that is nothing, invalid_id for what is no id.
// A pending upload cannot be read: it has no status to show yet.
func (a *API) read(ctx context.Context, id string) (*record, rights, error) {
	parsed, err := text.UUID(id)
	if err != nil {
		return nil, "", fault.Field(fault.InvalidID, "attachment_id", err.Error())
	}
	var caller uuid.NullUUID
	if v := viewer.From(ctx); v.Kind == viewer.Agent {
		caller = uuid.NullUUID{UUID: v.BotID, Valid: true}
	}
	r := new(record)
	var granted *rights
	err = a.DB.SQL.QueryRowContext(ctx, readOne, parsed, caller).Scan(append(r.targets(), &granted)...)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && granted == nil) {
		return nil, "", fault.New(fault.NotFound)
	}
	if err != nil {
		return nil, "", err
	}
	return r, *granted, nil
}
