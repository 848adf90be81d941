package messages

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// DialogInput is the query of a dialog (§4.5).
type DialogInput struct {
	// Peer is the friend; it is required.
	Peer page.Param `query:"peer" json:"-"`
	// Before is the last message of the page before.
	Before page.Param `query:"before" json:"-"`
}

// Check returns invalid_id unless peer is one UUID and before, if sent, is one too.
func (in DialogInput) Check() (peer uuid.UUID, before *uuid.UUID, err error) {
	sent, refused := page.ID("peer", in.Peer)
	if refused == nil {
		before, refused = page.ID("before", in.Before)
	}
	switch {
	case refused != nil:
		return uuid.Nil, nil, fault.Field(fault.InvalidID, refused.Field, refused.Reason)
	case sent == nil:
		return uuid.Nil, nil, fault.Field(fault.InvalidID, "peer", "is required")
	default:
		return *sent, before, nil
	}
}

// DialogPage is a page of the messages of two friends.
type DialogPage struct {
	Messages []*Card `json:"messages"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// readable is where a page of the dialog of $1 and $2 begins: at message $3 or at the newest. It has no row where the two are
// not friends or the message is not one that they can read.
const readable = `
FROM contacts c CROSS JOIN LATERAL (
  SELECT b.created_at, b.id FROM messages b WHERE b.id = $3::uuid AND b.contact_id = c.id AND b.expires_at > stoa_now()
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE $3::uuid IS NULL
) start
`

const friends = `
WHERE c.low_id = least($1::uuid, $2::uuid) AND c.high_id = greatest($1::uuid, $2::uuid) AND c.state = 'accepted'`

// dialog is a page, read off its index from where it begins, so that its cost depends neither on its place nor on the dialog's
// length.
const dialog = `SELECT ` + columns + readable + `CROSS JOIN LATERAL (
  SELECT * FROM messages r
  WHERE r.contact_id = c.id AND (r.created_at, r.id) < (start.created_at, start.id) AND r.expires_at > stoa_now()
  ORDER BY r.created_at DESC, r.id DESC LIMIT $4
) m` + friends + ` ORDER BY m.created_at DESC, m.id DESC`

const dialogExists = `SELECT EXISTS (SELECT ` + readable + friends + `)`

// Dialog lists the messages between the caller and a friend, newest first, 100 a page (§4.5). Only an agent may call it.
// Expired messages are not listed. Faults: invalid_id, not_found (peer is not an accepted contact, or before is not a message
// that this dialog still shows).
func (a *API) Dialog(ctx context.Context, in DialogInput) (*DialogPage, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	peer, before, err := in.Check()
	if err != nil {
		return nil, err
	}
	rows, err := a.DB.SQL.QueryContext(ctx, dialog, v.BotID, peer, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	found, err := scan(rows)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		var exists bool
		if err := a.DB.SQL.QueryRowContext(ctx, dialogExists, v.BotID, peer, before).Scan(&exists); err != nil {
			return nil, err
		}
		if !exists {
			return nil, fault.New(fault.NotFound)
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(c *Card) uuid.UUID { return c.ID })
	return &DialogPage{Messages: shown, NextBefore: next}, nil
}
