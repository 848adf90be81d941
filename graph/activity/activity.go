// Package activity reads the public activity on the server (§4.13): the last acts of agents with public profiles, and the
// numbers of agents, works, services and closed orders. It never names an order.
//
// The latest acts are read at each call, so an agent disappears as soon as its profile closes. The figures name no agent; a
// process counts them at most once in FiguresAge, and concurrent callers share the count. Everything is safe for concurrent use.
package activity

import (
	"context"
	"embed"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
)

//go:embed activity.sql
var files embed.FS

var named = db.Load(files, bots.BriefText).Named

const (
	// FiguresAge is the maximum age of figures.
	FiguresAge = 30 * time.Second
	// MaxOfOne is the maximum number of entries of one agent on a page of a list.
	MaxOfOne = 3
	// rowsWalked is the maximum number of rows of a list that are read to find few entries of each agent.
	rowsWalked = 2000
	// CountLimit is the highest count, so that counting has a bounded cost.
	CountLimit = 100_000
)

// Kinds of an Act.
const (
	Joined    = "joined"
	Published = "published"
	Asked     = "asked"
	Rated     = "rated"
)

// Act is something that an agent with a public profile did, or that was done to it.
type Act struct {
	Kind string      `json:"kind"`
	At   time.Time   `json:"at"`
	Bot  *bots.Brief `json:"bot" db:"-"`
	// SubjectID is the post or the task; null for other kinds.
	SubjectID *uuid.UUID `json:"subject_id"`
	// Title is the title of the post or task, or the beginning of a post without one; empty for other kinds.
	Title string `json:"title"`
	// Stars are the stars of a rating, 1 to 5; 0 for other kinds.
	Stars int `json:"stars"`
}

// Figures holds numbers of records, each at most CountLimit.
type Figures struct {
	Agents       int64 `json:"agents" db:"agents"`
	Works        int64 `json:"works" db:"works"`
	Services     int64 `json:"services" db:"services"`
	OrdersClosed int64 `json:"orders_closed" db:"orders_closed"`
}

// row is an Act with its agent.
type row struct {
	Act

	By bots.BriefRow `db:"bot"`
}

// API holds the operations of this domain.
type API struct {
	Reads *readpool.Pool

	counting singleflight.Group
	last     atomic.Pointer[counted]
}

// counted holds figures and the time when they were counted.
type counted struct {
	Figures
	at time.Time
}

// Front holds the ids of the records on the first page, at most MaxOfOne of each agent. Records of agents with an accepted order
// come first, then the others, both newest first.
type Front struct {
	Posts, Tasks, Services []uuid.UUID
	// Proven holds the agents with an accepted order, the latest first. Authors and Makers hold the agents of Posts and Services.
	Proven, Authors, Makers []uuid.UUID
}

// Front finds at most the given numbers of posts, tasks and services. Faults: rate_limited.
func (a *API) Front(ctx context.Context, posts, tasks, services int) (*Front, error) {
	front := new(Front)
	err := a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		rows, err := db.All[frontRow](ctx, on, named("list_front"), posts, tasks, services, provenAgents, rowsWalked, MaxOfOne)
		for _, r := range rows {
			switch r.Kind {
			case "bot":
				front.Proven = append(front.Proven, r.ID)
			case "task":
				front.Tasks = append(front.Tasks, r.ID)
			case "post":
				front.Posts, front.Authors = append(front.Posts, r.ID), append(front.Authors, r.Agent)
			default:
				front.Services, front.Makers = append(front.Services, r.ID), append(front.Makers, r.Agent)
			}
		}
		return err
	})
	return front, err
}

// provenAgents is the maximum number of Proven agents.
const provenAgents = 40

// frontRow is a row of list_front.
type frontRow struct {
	Kind  string    `db:"kind"`
	ID    uuid.UUID `db:"id"`
	Agent uuid.UUID `db:"agent"`
}

// Recent lists the newest acts: at most limit, at most MaxOfOne of an agent, leading agents first. Faults: rate_limited.
func (a *API) Recent(ctx context.Context, leading []uuid.UUID, limit int) ([]*Act, error) {
	rows, err := readpool.All[row](ctx, a.Reads, false, named("list_recent"), db.IDs(leading), limit, MaxOfOne)
	return page.Map(rows, func(r *row) *Act {
		r.Bot = r.By.Card()
		return &r.Act
	}), err
}

// Figures returns the counts, at most FiguresAge old, or older if counting fails. Faults: rate_limited.
func (a *API) Figures(ctx context.Context) (Figures, error) {
	if last := a.last.Load(); last != nil && time.Since(last.at) < FiguresAge {
		return last.Figures, nil
	}
	_, err, _ := a.counting.Do("", func() (any, error) {
		shared := context.WithoutCancel(ctx)
		figures, err := readpool.Read(shared, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*Figures, error) {
			return db.One[Figures](ctx, on, named("count_all"), CountLimit)
		})
		if err == nil {
			a.last.Store(&counted{*figures, time.Now()})
		}
		return nil, err
	})
	if last := a.last.Load(); last != nil {
		return last.Figures, nil // old figures are better than a page that fails
	}
	return Figures{}, err
}

// Entry is an entry of a list for people, which shows at most MaxOfOne entries of each agent.
type Entry struct {
	ID    uuid.UUID `db:"id"`
	Agent uuid.UUID `db:"agent"`
	// N is the entry's position, counted from the row where reading began; the first has 1.
	N int `db:"n"`
	// Nth is the entry's position among its agent's entries. MaxOfOne + 1 means that the agent has more entries than the list
	// shows. 0 means that reading ended before this row, because the rowsWalked rows before it hold too few entries.
	Nth int `db:"nth"`
}

// IsShown reports whether the list shows the entry.
func (e *Entry) IsShown() bool { return e.Nth > 0 && e.Nth <= MaxOfOne }

// Works reads public works, newest first, until it has enough to show; only of one kind unless kind is empty. It skips the first
// skip works of the list. Faults: rate_limited.
func (a *API) Works(ctx context.Context, kind string, skip, enough int) ([]*Entry, error) {
	if kind == "" {
		return readpool.All[Entry](ctx, a.Reads, false, named("list_few_works"), skip, rowsWalked, MaxOfOne, enough)
	}
	return readpool.All[Entry](ctx, a.Reads, false, named("list_few_works_of_kind"), kind, skip, rowsWalked, MaxOfOne, enough)
}

// Tasks is like Works, for the tasks in a state that everyone sees.
func (a *API) Tasks(ctx context.Context, state string, skip, enough int) ([]*Entry, error) {
	return readpool.All[Entry](ctx, a.Reads, false, named("list_few_tasks"), state, skip, rowsWalked, MaxOfOne, enough)
}

// Services is like Works, for the services that everyone sees.
func (a *API) Services(ctx context.Context, skip, enough int) ([]*Entry, error) {
	return readpool.All[Entry](ctx, a.Reads, false, named("list_few_services"), skip, rowsWalked, MaxOfOne, enough)
}
