package operator

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/lifecycle"
	"stoa/graph/platform/db"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

var (
	recordActivity  = statements.Named("record_activity")
	deleteActivity  = statements.Named("delete_activity")
	selectActivity  = statements.Named("select_activity")
	selectAttention = statements.Named("select_attention")
	countErasures   = statements.Named("count_erasures")
	listSuspects    = statements.Named("list_suspects")
)

// ActivityRetention is how long the minutes of the overview are kept.
const ActivityRetention = 31 * 24 * time.Hour

// activityLag is how old a minute is before it is recorded: transactions of that minute have ended then.
const activityLag = 2 * time.Minute

// Overview is how the service fares.
type Overview struct {
	Activity  []*Activity
	Attention []*Attention
	Processes []*Process
	// Posing are agents whose names look like the platform's, at most 20.
	Posing   []*ent.Bot
	Erasures *OpenErasures
}

// Activity counts the events within a window, in parts of the same length.
type Activity struct {
	// Window is hour, day or month.
	Window string
	Begins time.Time
	// StepSeconds is the length of a part.
	StepSeconds                            int64
	Agents, Messages, Orders, CreditsMinor []int64
}

// windows are those of the overview.
var windows = []struct {
	name  string
	parts int64
	step  time.Duration
}{{"hour", 30, 2 * time.Minute}, {"day", 24, time.Hour}, {"month", 30, 24 * time.Hour}}

// Overview reads it. All of it is read off indexes, within bounds. Faults: unauthorized.
func (a *API) Overview(ctx context.Context) (*Overview, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	var (
		o   Overview
		err error
	)
	if o.Activity, err = a.activity(ctx); err != nil {
		return nil, err
	}
	if o.Attention, err = a.attention(ctx); err != nil {
		return nil, err
	}
	if o.Posing, err = a.impersonators(ctx); err != nil {
		return nil, err
	}
	if o.Erasures, err = a.erasures(ctx); err != nil {
		return nil, err
	}
	o.Processes, err = a.processes(ctx)
	return &o, err
}

// activityRow is a part of a window.
type activityRow struct {
	Name         string    `db:"name"`
	Begins       time.Time `db:"begins"`
	StepSeconds  int64     `db:"step_seconds"`
	Agents       int64     `db:"agents"`
	Messages     int64     `db:"messages"`
	Orders       int64     `db:"orders"`
	CreditsMinor int64     `db:"credits_minor"`
}

func (a *API) activity(ctx context.Context) ([]*Activity, error) {
	var (
		names        pq.StringArray
		parts, steps pq.Int64Array
	)
	for _, w := range windows {
		names, parts, steps = append(names, w.name), append(parts, w.parts), append(steps, int64(w.step.Seconds()))
	}
	rows, err := db.All[activityRow](ctx, a.DB.SQL, selectActivity, names, parts, steps)
	if err != nil {
		return nil, err
	}
	var all []*Activity
	for _, r := range rows {
		if len(all) == 0 || all[len(all)-1].Window != r.Name {
			all = append(all, &Activity{Window: r.Name, Begins: r.Begins, StepSeconds: r.StepSeconds})
		}
		last := all[len(all)-1]
		last.Agents, last.Messages = append(last.Agents, r.Agents), append(last.Messages, r.Messages)
		last.Orders, last.CreditsMinor = append(last.Orders, r.Orders), append(last.CreditsMinor, r.CreditsMinor)
	}
	return all, nil
}

// RecordActivity counts the minutes that are over since the last of them was counted, an hour at a time; the first time for the last 30
// days. It stops when ctx ends, and the next call goes on from there. A job calls it.
func (a *API) RecordActivity(ctx context.Context) error {
	for {
		done, err := db.Column[int64](ctx, a.DB.SQL, recordActivity, activityLag.Seconds())
		if err != nil || done[0] < 60 {
			return err
		}
	}
}

// DeleteOldActivity deletes minutes that are past ActivityRetention.
func (a *API) DeleteOldActivity(ctx context.Context) (int64, error) {
	deleted, err := db.Column[int64](ctx, a.DB.SQL, deleteActivity, ActivityRetention.Seconds())
	if err != nil {
		return 0, err
	}
	return deleted[0], nil
}

// Attention is something that needs an operator's attention.
type Attention struct {
	Kind  string
	Count int64
	Text  string
}

const (
	// idleOrder is how long an order whose credits are held may be untouched.
	idleOrder = 3 * 24 * time.Hour
	// leastFree is the part of a disk that should be free.
	leastFree = 0.1
)

// attentionRow counts things that need an operator's attention.
type attentionRow struct {
	Orders       int64 `db:"orders"`
	UnsentMails  int64 `db:"unsent_mails"`
	LostMails    int64 `db:"lost_mails"`
	Webhooks     int64 `db:"webhooks"`
	FailedJobs   int64 `db:"failed_jobs"`
	OpenFeedback int64 `db:"open_feedback"`
	OpenReports  int64 `db:"open_reports"`
	// OldestReport is how long ago the oldest open report was sent, in seconds.
	OldestReport     float64 `db:"oldest_report_seconds"`
	LedgerFound      int64   `db:"ledger_found"`
	LedgerLate       int64   `db:"ledger_late"`
	SilentProcesses  int64   `db:"silent_processes"`
	UnreadyProcesses int64   `db:"unready_processes"`
	RefusedProcesses int64   `db:"refused_processes"`
	FullDisks        int64   `db:"full_disks"`
}

func (a *API) attention(ctx context.Context) ([]*Attention, error) {
	found, err := db.One[attentionRow](ctx, a.DB.SQL, selectAttention, idleOrder.Seconds(), leastFree, silence.Seconds())
	if err != nil {
		return nil, err
	}
	all := []*Attention{}
	for _, one := range []Attention{
		{"reports", found.OpenReports, "Reports wait for an answer, the oldest for " + cmp.Or(pages.Span(time.Duration(found.OldestReport*float64(time.Second))), "less than a minute") + "."},
		{"ledger", found.LedgerFound, "The ledger does not balance: a check found discrepancies."},
		{"disks", found.FullDisks, "A disk of a process is nearly full: less than a tenth is free."},
		{"silent_processes", found.SilentProcesses, "A process fell silent without ending as it should."},
		{"refused_processes", found.RefusedProcesses, "The database refuses new connections of a process, which lives on those that it has."},
		{"unready_processes", found.UnreadyProcesses, "A process is not ready."},
		{"failed_jobs", found.FailedJobs, "Jobs failed for good within the last day."},
		{"ledger_late", found.LedgerLate, "The ledger was not checked for three hours."},
		{"orders", found.Orders, "Orders are disputed, past their deadline, or untouched for three days while credits are held."},
		{"lost_mails", found.LostMails, "Mails of the last day were refused or given up."},
		{"unsent_mails", found.UnsentMails, "Mails could not be sent yet and are tried again."},
		{"webhooks", found.Webhooks, "Webhooks fail, or their endpoints are gone."},
		{"feedback", found.OpenFeedback, "Feedback waits for an answer."},
	} {
		if one.Count > 0 {
			all = append(all, &one)
		}
	}
	return all, nil
}

// erasuresMost is how many open erasures are shown, erasuresCounted up to what number those of each state are counted.
const erasuresMost, erasuresCounted = 20, 1000

// OpenErasures are the erasures that were asked for and are not done (§12.7).
type OpenErasures struct {
	Pending int64 `db:"pending"`
	Partial int64 `db:"partial"`
	// First are those that are due first.
	First []*lifecycle.OpenErasure `db:"-"`
}

func (a *API) erasures(ctx context.Context) (*OpenErasures, error) {
	counted, err := db.One[OpenErasures](ctx, a.DB.SQL, countErasures, erasuresCounted)
	if err != nil {
		return nil, err
	}
	counted.First, err = lifecycle.OpenErasures(ctx, a.DB, erasuresMost)
	return counted, err
}

const (
	// impersonatorsMost is how many agents with names that impersonate the platform are shown.
	impersonatorsMost = 20
	// suspectsNewest is how many of the newest agents' names are looked at, suspectsIndexed how many of those whose text holds a word.
	suspectsNewest, suspectsIndexed = 1000, 200
)

// suspect is a name that may impersonate.
type suspect struct {
	ID          uuid.UUID `db:"id"`
	DisplayName string    `db:"display_name"`
}

// impersonators returns active agents whose names look like the platform's: among the newest agents, and among those whose text holds a word of
// the platform, off the index of trigrams.
func (a *API) impersonators(ctx context.Context) ([]*ent.Bot, error) {
	suspects, err := db.All[suspect](ctx, a.DB.SQL, listSuspects, suspectsNewest, suspectsIndexed)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, s := range suspects {
		if text.Impersonates(s.DisplayName) && len(ids) < impersonatorsMost {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) == 0 {
		return []*ent.Bot{}, nil
	}
	return a.DB.Ent.Bot.Query().Where(bot.IDIn(ids...)).Order(ent.Desc(bot.FieldID)).All(ctx)
}
