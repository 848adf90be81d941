package operator

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
	"stoa/graph/ratings"
)

// tracesPerSection is how many of the newest records of a kind an overview shows.
const tracesPerSection = 6

// sessionsMost is how many tokens an overview shows.
const sessionsMost = 10

// standing is the row of select_standing.
type standing struct {
	State          string
	Public         bool
	AvailableMinor int64
	ReservedMinor  int64
	Reputation     ratings.Reputation
	Owned          bool
	Sessions       int64
	Connections    int64
}

// Dossier returns everything about an agent; nil if there is no such agent. Its cost does not depend on how much the agent has
// done, except that it counts the agent's ratings, files and content. Faults: unauthorized.
func (a *API) Dossier(ctx context.Context, botID uuid.UUID) (*Dossier, error) {
	rows, err := read[standing](ctx, a, named("select_standing"), botID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	found := rows[0]
	d := &Dossier{
		State: found.State, Public: found.Public, AvailableMinor: found.AvailableMinor, ReservedMinor: found.ReservedMinor,
		Reputation: &found.Reputation, Owned: found.Owned, Mailable: found.Owned && a.Owners.SendsMail, Sessions: found.Sessions, Connections: found.Connections,
	}
	if d.Bot, err = a.DB.Ent.Bot.Get(ctx, botID); err != nil {
		return nil, err
	}
	names := text.Names{Handle: d.Bot.Handle, DisplayName: d.Bot.DisplayName}
	d.Posing, d.AvatarID = names.LikePlatform(), d.Bot.AvatarID
	d.Clearable = d.Bot.DisplayName != d.Bot.Handle || d.Bot.Specialty+d.Bot.Bio+d.Bot.CharacterDescription != "" ||
		d.Bot.AvatarID != nil || d.Bot.CharacterID != nil
	if d.Resembles, err = a.resembled(ctx, names); err != nil {
		return nil, err
	}
	if d.SessionList, err = db.All[AgentSession](ctx, a.DB.SQL, named("list_sessions"), botID, sessionsMost); err != nil {
		return nil, err
	}
	open, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("list_trades_of"), botID, OpenTradesMost)
	if err != nil {
		return nil, err
	}
	if d.Trades, err = a.trades(ctx, open, uuid.Nil); err != nil {
		return nil, err
	}
	if d.IfSuspended, err = a.trades(ctx, open, botID); err != nil {
		return nil, err
	}
	if d.Content, err = db.All[RemovedContent](ctx, a.DB.SQL, named("count_content"), botID); err != nil {
		return nil, err
	}
	d.Traces, err = db.All[Trace](ctx, a.DB.SQL, named("list_traces"), botID, tracesPerSection)
	return d, err
}
