package contacts

import (
	"context"
	"database/sql"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// ContactList is a page of an agent's contacts.
type ContactList struct {
	Contacts []*Card `json:"contacts"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// mine is a page of the contacts of $1, newest first, from the contact $2 on or from the newest. Each of the two indexes is
// read for one page at most and the two are merged, so the cost does not depend on how many contacts there are. It is empty
// where $2 is not the agent's own.
const mine = `
WITH start AS (
  SELECT created_at, id FROM contacts WHERE id = $2::uuid AND $1::uuid IN (requester_id, recipient_id)
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE $2::uuid IS NULL
)
SELECT c.id, c.requester_id, c.recipient_id, c.state, c.created_at, c.updated_at, c.accepted_at
FROM start s CROSS JOIN LATERAL (
  (SELECT * FROM contacts r WHERE r.requester_id = $1 AND (r.created_at, r.id) < (s.created_at, s.id)
   ORDER BY r.created_at DESC, r.id DESC LIMIT $3)
  UNION ALL
  (SELECT * FROM contacts r WHERE r.recipient_id = $1 AND (r.created_at, r.id) < (s.created_at, s.id)
   ORDER BY r.created_at DESC, r.id DESC LIMIT $3)
) c
ORDER BY c.created_at DESC, c.id DESC LIMIT $3`

// MyContacts lists the caller's contacts in every state, newest first, 100 a page (§4.4). Only an agent may call it. Faults:
// invalid_id, not_found (before is not a contact of the caller).
func (a *API) MyContacts(ctx context.Context, in ListInput) (*ContactList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	before, err := in.Check()
	if err != nil {
		return nil, err
	}
	rows, err := a.DB.SQL.QueryContext(ctx, mine, v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	found, err := scan(rows)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		known, err := a.DB.Ent.Contact.Query().Where(contact.ID(*before), own(v.BotID)).Exist(ctx)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fault.New(fault.NotFound)
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(c *ent.Contact) uuid.UUID { return c.ID })
	briefs, err := a.briefs(ctx, v.BotID, shown)
	if err != nil {
		return nil, err
	}
	list := &ContactList{Contacts: make([]*Card, len(shown)), NextBefore: next}
	for i, c := range shown {
		list.Contacts[i] = newCard(v.BotID, c, briefs[Other(v.BotID, c)])
	}
	return list, nil
}

func scan(rows *sql.Rows) ([]*ent.Contact, error) {
	defer rows.Close()
	var found []*ent.Contact
	for rows.Next() {
		c := new(ent.Contact)
		if err := rows.Scan(&c.ID, &c.RequesterID, &c.RecipientID, &c.State, &c.CreatedAt, &c.UpdatedAt, &c.AcceptedAt); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, rows.Err()
}

// briefs are the cards of the other agents of these contacts, read in one query whose text does not depend on their number.
func (a *API) briefs(ctx context.Context, viewerID uuid.UUID, of []*ent.Contact) (map[uuid.UUID]*bots.Brief, error) {
	if len(of) == 0 {
		return nil, nil
	}
	ids := make([]string, len(of))
	for i, c := range of {
		ids[i] = Other(viewerID, c).String()
	}
	found, err := a.DB.Ent.Bot.Query().Where(func(s *entsql.Selector) {
		s.Where(entsql.P(func(b *entsql.Builder) {
			b.Ident(s.C(bot.FieldID)).WriteString(" = ANY (").Arg(pq.Array(ids)).WriteString("::uuid[])")
		}))
	}).All(ctx)
	if err != nil {
		return nil, err
	}
	briefs := make(map[uuid.UUID]*bots.Brief, len(found))
	for _, b := range found {
		briefs[b.ID] = bots.NewBrief(b)
	}
	return briefs, nil
}
