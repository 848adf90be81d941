package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/lifecycle"
	"stoa/graph/platform/db"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
)

// ActivityRetention is the time for which the minutes of the overview are kept.
const ActivityRetention = 31 * 24 * time.Hour

// activityLag is the age at which a minute is recorded: its transactions have ended by then.
const activityLag = 2 * time.Minute

// Overview summarises the state of the service. Its reads use indexes and are bounded. Faults: unauthorized.
func (a *API) Overview(ctx context.Context) (*Overview, error) {
	r := a.reads(ctx)
	o := &Overview{Activity: table[Activity](ctx, r, named("select_activity"))}
	var names []*knownName
	o.Attention, names = r.attention(ctx)
	o.Posing = r.impersonators(ctx, names)
	o.Erasures = part(r, func() (*OpenErasures, error) {
		return db.One[OpenErasures](ctx, a.DB.SQL, named("count_erasures"), erasuresCounted)
	})
	first := part(r, func() ([]*lifecycle.OpenErasure, error) { return lifecycle.OpenErasures(ctx, a.DB, erasuresMost) })
	// These processes serve, or were silent within the last day.
	o.Processes = table[Process](ctx, r, named("select_processes"), silence.Seconds())
	if r.err != nil {
		return nil, r.err
	}
	o.Erasures.First = first
	return o, nil
}

// RecordActivity counts the minutes that have passed since the last counted one, an hour at a time. The first time it begins at
// the oldest agent, at most 30 days back. It stops when ctx ends, and the next call continues. A job calls it.
func (a *API) RecordActivity(ctx context.Context) error {
	for {
		done, err := db.Column[int64](ctx, a.DB.SQL, named("record_activity"), activityLag.Seconds())
		if err != nil || done[0] < 60 {
			return err
		}
	}
}

// DeleteOldActivity deletes minutes that are past ActivityRetention.
func (a *API) DeleteOldActivity(ctx context.Context) (int64, error) {
	deleted, err := db.Column[int64](ctx, a.DB.SQL, named("delete_activity"), ActivityRetention.Seconds())
	if err != nil {
		return 0, err
	}
	return deleted[0], nil
}

const (
	// idleOrder is the time for which an order with held credits may be untouched.
	idleOrder = 3 * 24 * time.Hour
	// leastFree is the fraction of a disk that should be free.
	leastFree = 0.1
)

// needs are the kinds of things that need attention, in their order, with the words after the number, singular and plural. %s is
// how long the oldest has waited.
var needs = []struct{ kind, one, many string }{
	{"reports", "report waits for an answer, for %s.", "reports wait for an answer, the oldest for %s."},
	{"ledger", "check of the ledger found it wrong: it does not balance.", "checks of the ledger found it wrong: it does not balance."},
	{"disks", "process has a disk that is nearly full: less than a tenth is free.", "processes have a disk that is nearly full: less than a tenth is free."},
	{"silent_processes", "process fell silent without ending as it should.", "processes fell silent without ending as they should."},
	{
		"refused_processes", "process gets no new connections to the database and lives on those that it has.",
		"processes get no new connections to the database and live on those that they have.",
	},
	{"unready_processes", "process is not ready.", "processes are not ready."},
	{"failed_jobs", "job failed for good within the last day.", "jobs failed for good within the last day."},
	{"ledger_late", "check of the ledger is late: the last was over three hours ago.", "checks of the ledger are late: the last was over three hours ago."},
	{
		"orders", "order is disputed, past its deadline, or untouched for three days while credits are held.",
		"orders are disputed, past their deadline, or untouched for three days while credits are held.",
	},
	{"posing", "agent has a name like the platform's.", "agents have names like the platform's."},
	{"lookalikes", "agent looks like one that has closed orders or is suspended.", "agents look like others that have closed orders or are suspended."},
	{"renamed", "agent has a new name after an operator cleared one.", "agents have new names after operators cleared theirs."},
	{"floods", "agent made very many things within a minute of the last day.", "agents made very many things within a minute of the last day."},
	{"mentions", "agent mentions very many others in a post of the last day.", "agents mention very many others in a post of the last day."},
	{"rewards", "agent promises more than its whole wallet.", "agents promise more than their whole wallets."},
	{"lost_mails", "mail of the last day was refused or given up.", "mails of the last day were refused or given up."},
	{"unsent_mails", "mail could not be sent yet and is tried again.", "mails could not be sent yet and are tried again."},
	{"webhooks", "webhook fails, or its endpoint is gone.", "webhooks fail, or their endpoints are gone."},
	{"feedback", "piece of feedback waits for an answer.", "pieces of feedback wait for an answer."},
}

// attentionRow is a row of select_attention.
type attentionRow struct {
	Attention

	OldestSeconds *float64
}

// attention returns the entries that need attention, and the names that it compared.
func (r *reads) attention(ctx context.Context) ([]*Attention, []*knownName) {
	rows := table[attentionRow](ctx, r, named("select_attention"), idleOrder.Seconds(), leastFree, silence.Seconds())
	names := r.names(ctx, uuid.Nil)
	for kind, agents := range r.noticed(ctx, names) {
		shown := agents[:min(len(agents), noticedMost)]
		rows = append(rows, &attentionRow{Attention: Attention{Kind: kind, Count: int64(len(agents)), Agents: shown}})
	}
	all := []*Attention{}
	for _, need := range needs {
		for _, row := range rows {
			if row.Kind != need.kind {
				continue
			}
			if row.Text = need.many; row.Count == 1 {
				row.Text = need.one
			}
			if row.OldestSeconds != nil {
				oldest := pages.Span(time.Duration(*row.OldestSeconds * float64(time.Second)))
				row.Text = fmt.Sprintf(row.Text, cmp.Or(oldest, "less than a minute"))
			}
			all = append(all, &row.Attention)
		}
	}
	return all, names
}

// erasuresMost is the maximum number of shown open erasures. The erasures of each state are counted up to erasuresCounted.
const erasuresMost, erasuresCounted = 20, 1000

// tracesPerSection is the number of the newest records of a kind that an overview shows.
const tracesPerSection = 6

// sessionsMost is the maximum number of tokens in an overview.
const sessionsMost = 10

// Dossier returns everything about an agent; nil if there is no such agent. Its cost does not grow with the agent's records,
// except that it counts ratings, files and content. Faults: unauthorized.
func (a *API) Dossier(ctx context.Context, botID uuid.UUID) (*Dossier, error) {
	r := a.reads(ctx)
	rows := table[Dossier](ctx, r, named("select_standing"), botID)
	if len(rows) == 0 {
		return nil, r.err
	}
	d := rows[0]
	d.Mailable = d.Owned && a.Owners.SendsMail
	if d.Bot = part(r, func() (*ent.Bot, error) { return a.DB.Ent.Bot.Get(ctx, botID) }); r.err != nil {
		return nil, r.err
	}
	d.Posing, d.AvatarID = text.Names{Handle: d.Bot.Handle, DisplayName: d.Bot.DisplayName}.LikePlatform(), d.Bot.AvatarID
	d.Clearable = d.Bot.DisplayName != d.Bot.Handle || d.Bot.Specialty+d.Bot.Bio+d.Bot.CharacterDescription != "" ||
		d.Bot.AvatarID != nil || d.Bot.CharacterID != nil
	d.Resembles = r.resembled(ctx, botID)
	d.SessionList = table[AgentSession](ctx, r, named("list_sessions"), botID, sessionsMost)
	open := column[uuid.UUID](ctx, r, named("list_trades_of"), botID, OpenTradesMost)
	d.Trades, d.IfSuspended = r.trades(ctx, open, uuid.Nil), r.trades(ctx, open, botID)
	d.Content = table[RemovedContent](ctx, r, named("count_content"), botID)
	d.Traces = table[Trace](ctx, r, named("list_traces"), botID, tracesPerSection)
	return d, r.err
}

const (
	// nowWindow is the window of Now; it shows nowMost things, of the newest nowDeep of each kind.
	nowWindow, nowMost, nowDeep = time.Hour, 120, 1000
)

// Now shows the last hour, open orders and things that need attention, from indexes and within bounds. Faults: unauthorized.
func (a *API) Now(ctx context.Context) (*Now, error) {
	r := a.reads(ctx)
	n := &Now{Stream: table[Happening](ctx, r, named("list_happenings"), nowWindow.Seconds(), nowDeep, nowMost+1)}
	if n.More = len(n.Stream) > nowMost; n.More {
		n.Stream = n.Stream[:nowMost]
	}
	slices.SortStableFunc(n.Stream, func(one, other *Happening) int { return other.At.Compare(one.At) })
	n.Trades = r.trades(ctx, column[uuid.UUID](ctx, r, named("list_open_trades"), OpenTradesMost), uuid.Nil)
	n.Attention, _ = r.attention(ctx)
	n.At = part(r, func() (time.Time, error) { return db.Value[time.Time](ctx, a.DB.SQL, named("select_now")) })
	return n, r.err
}
