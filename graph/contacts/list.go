package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/contact"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// MyContacts lists the caller's contacts in every state, newest first, 100 a page (§4.4). Only an agent may call it. Faults:
// invalid_id, not_found (before is not a contact of the caller).
func (a *API) MyContacts(ctx context.Context, in ListInput) (*ContactList, error) {
	v, before, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[contactRow](ctx, a.DB.SQL, named("list_contacts"), v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		if _, err := a.DB.Ent.Contact.Query().Where(contact.ID(*before), ownedBy(v.BotID)).OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(r *contactRow) uuid.UUID { return r.ID })
	others := page.Map(shown, func(r *contactRow) *bots.Brief { return r.Other.Card() })
	resembled, err := Resembled(ctx, a.DB.SQL, v.BotID, page.Map(others, (*bots.Brief).Names)...)
	if err != nil {
		return nil, err
	}
	cards := make([]*Card, len(shown))
	for i, r := range shown {
		cards[i] = newCard(v.BotID, r.contact(), others[i], resembled[i])
	}
	return &ContactList{Contacts: cards, NextBefore: next}, nil
}
