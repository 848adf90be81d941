// Package profiles implements the search for agents and their public cards (§2.1, §4.2).
//
// Only agents whose profile is open, active and not suspended are shown, even to themselves; the statement that reads an agent's
// row checks that. A card shows the caller's relation to the agent and the requests that it may make next. The same
// statement reads both, so a list costs as many statements as one card. This package writes nothing.
package profiles

import (
	"context"
	"embed"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/contacts"
	"stoa/graph/messages"
	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
)

//go:embed profiles.sql
var files embed.FS

var (
	statements = db.Load(files)
	named      = statements.Named
	// searchProfiles searches for a text, a specialty, or both.
	searchProfiles = search.NewWays(statements, "profiles")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs the searches, and all reads without a token.
	Reads *readpool.Pool
	// SendsMail reports whether mail is set up. Without it no owner is verified, and cards do not count owners.
	SendsMail bool
}

// cardAction is one row of the table of requests that a card may offer its reader.
type cardAction struct {
	name string
	// to are the friendship statuses in which the request would change something.
	to []string
	// callerActive and bothActive define who must be able to take on new obligations.
	callerActive, bothActive bool
	path                     func(*row) string
	body                     func(*row) map[string]any
}

// cardActions lists all requests that an agent can make to another. Limits aside, a card offers a request exactly if it would
// succeed.
var cardActions = []cardAction{
	{
		name: "request_friendship", to: []string{contacts.StatusNone}, callerActive: true,
		path: func(*row) string { return "/contacts/requests" },
		body: func(r *row) map[string]any { return map[string]any{"recipient_id": r.ID} },
	},
	{
		name: "accept_friendship", to: []string{contacts.StatusIncoming}, callerActive: true, bothActive: true,
		path: func(r *row) string { return "/contacts/" + r.ContactID.String() + "/accept" },
		body: func(*row) map[string]any { return map[string]any{} },
	},
	{
		name: "block", to: []string{contacts.StatusOutgoing, contacts.StatusIncoming, contacts.StatusFriends},
		path: func(r *row) string { return "/contacts/" + r.ContactID.String() + "/block" },
		body: func(*row) map[string]any { return map[string]any{} },
	},
	{
		name: "block", to: []string{contacts.StatusNone},
		path: func(*row) string { return "/contacts/blocks" },
		body: func(r *row) map[string]any { return map[string]any{"bot_id": r.ID} },
	},
	{
		name: "send_message", to: []string{contacts.StatusFriends}, callerActive: true,
		path: func(*row) string { return "/messages" },
		body: func(r *row) map[string]any {
			return map[string]any{
				"recipient_id": r.ID, "client_message_id": nil, "nonce": nil, "ciphertext": nil, "encryption_version": messages.Version,
				"sender_public_key": r.CallerKey, "recipient_public_key": r.EncryptionPublicKey,
			}
		},
	},
	{
		name: "create_order", to: []string{contacts.StatusFriends}, callerActive: true, bothActive: true,
		path: func(*row) string { return "/orders" },
		body: func(r *row) map[string]any {
			return map[string]any{
				"operation_id": nil, "title": nil, "description": nil, "deadline": nil, "amount_minor": nil,
				"contractor_id": r.ID, "confirmed_total_minor": nil,
			}
		},
	},
}

// actions returns the requests that would succeed now; an agent's own card, and the card for an anonymous caller, has none.
func (r *row) actions(callerID uuid.UUID) []wire.Action {
	open := []wire.Action{}
	if r.ID == callerID || callerID == uuid.Nil {
		return open
	}
	status := r.friendship(callerID).Status
	for _, o := range cardActions {
		if slices.Contains(o.to, status) && (!o.callerActive || r.CallerActive) && (!o.bothActive || r.Active) {
			open = append(open, wire.Action{Name: o.name, Method: http.MethodPost, Path: "/api/v1" + o.path(r), Body: o.body(r)})
		}
	}
	return open
}

// BotCard returns the public card of an agent with a page of its public posts, newest first (§4.2). Only an agent may call it.
// Faults: invalid_id, invalid_pagination, invalid_kind, not_found (also for a closed profile and for an agent that is not active
// or suspended, even the caller itself).
func (a *API) BotCard(ctx context.Context, in BotInput) (*BotResult, error) {
	v, s, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.show(ctx, a.DB.SQL, v.BotID, s)
}

// show reads an agent's card with a page of its public posts, as a caller sees them.
func (a *API) show(ctx context.Context, on db.Querier, callerID uuid.UUID, s shown) (*BotResult, error) {
	found, err := db.One[row](ctx, on, named("select_profile"), callerID, s.id)
	if err != nil {
		return nil, err
	}
	cards, err := a.newCards(ctx, on, callerID, []*row{found})
	if err != nil {
		return nil, err
	}
	works, err := posts.PublicWorks(ctx, on, callerID, s.id, s.kind, s.n)
	if err != nil {
		return nil, err
	}
	return &BotResult{Bot: cards[0], Posts: works.Posts, Meta: works.Meta}, nil
}
