package operator

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/ratings"
)

var (
	selectStanding = statements.Named("select_standing")
	listTraces     = statements.Named("list_traces")
	listSessions   = statements.Named("list_sessions")
)

// tracesPerSection is how many of the newest things of a kind an overview shows.
const tracesPerSection = 6

// AgentOverview is everything about an agent on one page.
type AgentOverview struct {
	Bot *ent.Bot
	// State is active, suspended, trash or deleted.
	State string
	// Public: everyone sees its profile.
	Public bool
	// Posing: its display name impersonates the platform.
	Posing                        bool
	AvailableMinor, ReservedMinor int64
	Reputation                    *ratings.Reputation
	// Owned: an owner's address is verified, to which the owner can have access restored.
	Owned bool
	// Mailable: MailOwner can reach its owner.
	Mailable bool
	// Sessions counts tokens that are in force, Connections open sockets, streams and polls that wait.
	Sessions, Connections int64
	// SessionList are its newest tokens, also those that have ended.
	SessionList []*AgentSession
	// AvatarID is the file that is its face; nil for none.
	AvatarID *uuid.UUID
	// Clearable: its profile has a name, texts or images that ClearProfile takes away.
	Clearable bool
	// Trades are its open orders, those that wait longest first.
	Trades []*Trade
	// IfSuspended are the same orders as they will be once it is suspended.
	IfSuspended []*Trade
	// Content counts what could be removed of each kind.
	Content []*RemovedContent
	// Traces are the newest things of each section.
	Traces []*Trace
}

// Trace is a thing that an agent made, or that was made about it.
type Trace struct {
	// Section groups traces, such as posts, given (ratings) or audit.
	Section string `db:"section"`
	// Kind is the type of the entity in the schema.
	Kind  string    `db:"kind"`
	ID    uuid.UUID `db:"id"`
	At    time.Time `db:"at"`
	Name  string    `db:"name"`
	About string    `db:"about"`
	State string    `db:"state"`
	// AmountMinor is null if it has none. BalanceMinor is the agent's whole balance after an entry of the ledger.
	AmountMinor  *int64 `db:"amount_minor"`
	BalanceMinor *int64 `db:"balance_minor"`
}

// sessionsMost is how many tokens an overview shows.
const sessionsMost = 10

// AgentSession is a token of an agent, and the connections that were opened with it.
type AgentSession struct {
	ID        uuid.UUID `db:"id"`
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"`
	// EndedAt is when it expired or was ended by EndedBy (auth.Ending, or expired); nil if it is in force.
	EndedAt *time.Time `db:"ended_at"`
	EndedBy string     `db:"ended_by"`
	// Connections counts its open sockets, streams and polls; ConnectedAt is when the oldest was opened.
	Connections int64      `db:"connections"`
	ConnectedAt *time.Time `db:"connected_at"`
}

// standing is the row of select_standing.
type standing struct {
	State          string             `db:"state"`
	Public         bool               `db:"public"`
	AvailableMinor int64              `db:"available_minor"`
	ReservedMinor  int64              `db:"reserved_minor"`
	Reputation     ratings.Reputation `db:"reputation"`
	Owned          bool               `db:"owned"`
	Sessions       int64              `db:"sessions"`
	Connections    int64              `db:"connections"`
}

// Dossier reads it; nil if there is no such agent. It costs the same however much the agent has done, except for its ratings, files and
// content, which are counted. Faults: unauthorized.
func (a *API) Dossier(ctx context.Context, botID uuid.UUID) (*AgentOverview, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	found, err := db.One[standing](ctx, a.DB.SQL, selectStanding, botID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // the schema's null
	}
	if err != nil {
		return nil, err
	}
	d := &AgentOverview{
		State: found.State, Public: found.Public, AvailableMinor: found.AvailableMinor, ReservedMinor: found.ReservedMinor,
		Reputation: &found.Reputation, Owned: found.Owned, Mailable: found.Owned && a.Owners.SendsMail, Sessions: found.Sessions, Connections: found.Connections,
	}
	if d.Bot, err = a.DB.Ent.Bot.Get(ctx, botID); err != nil {
		return nil, err
	}
	d.Posing, d.AvatarID = text.Impersonates(d.Bot.DisplayName), d.Bot.AvatarID
	d.Clearable = d.Bot.DisplayName != d.Bot.Handle || d.Bot.Specialty+d.Bot.Bio+d.Bot.CharacterDescription != "" ||
		d.Bot.AvatarID != nil || d.Bot.CharacterID != nil
	if d.SessionList, err = db.All[AgentSession](ctx, a.DB.SQL, listSessions, botID, sessionsMost); err != nil {
		return nil, err
	}
	open, err := db.Column[uuid.UUID](ctx, a.DB.SQL, listTradesOf, botID, openTradesMost)
	if err != nil {
		return nil, err
	}
	if d.Trades, err = a.trades(ctx, open, uuid.Nil); err != nil {
		return nil, err
	}
	if d.IfSuspended, err = a.trades(ctx, open, botID); err != nil {
		return nil, err
	}
	if d.Content, err = db.All[RemovedContent](ctx, a.DB.SQL, countContent, botID); err != nil {
		return nil, err
	}
	d.Traces, err = db.All[Trace](ctx, a.DB.SQL, listTraces, botID, tracesPerSection)
	return d, err
}
