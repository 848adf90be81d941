package attachments

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

const (
	// maxPublications is how many such requests may wait in one process, and maxPublicationsPerAgent how many of one agent.
	maxPublications         = 32
	maxPublicationsPerAgent = 4
)

// publicationWait is how long a request that publishes files waits for their copies.
var publicationWait = slack.Of(20 * time.Second)

var (
	lockPublished    = statements.Named("lock_published")
	lockAllPublished = statements.Named("lock_all_published")
)

// missingCopiesError is the error of a change that would publish files without public copies. Publication handles it.
type missingCopiesError struct {
	owner uuid.UUID
	ids   []uuid.UUID
}

// Error implements error.
func (m *missingCopiesError) Error() string { return "attachments: files without public copies" }

// RequireCopies ends a change that has published the files of a post, or the images of an agent, unless each has its public copy.
// The change must run in Publication, and this must be its last check, because Publication makes the copies and runs it again.
func RequireCopies(ctx context.Context, tx *db.Tx, target uuid.UUID, uses ...Use) error {
	kinds := make(pq.StringArray, len(uses))
	for i, use := range uses {
		kinds[i] = string(use)
	}
	return requireCopies(ctx, tx, lockPublished, target, kinds)
}

// RequireAllCopies is RequireCopies of everything that others see of an agent, for a change that opens its profile.
func RequireAllCopies(ctx context.Context, tx *db.Tx, owner uuid.UUID) error {
	return requireCopies(ctx, tx, lockAllPublished, owner)
}

func requireCopies(ctx context.Context, tx *db.Tx, s *db.Statement, args ...any) error {
	found, err := db.All[row](ctx, tx.SQL, s, args...)
	if err != nil {
		return err
	}
	missing := new(missingCopiesError)
	for _, r := range found {
		if !r.hasCopy() {
			missing.owner, missing.ids = r.OwnerID, append(missing.ids, r.ID)
		}
	}
	if len(missing.ids) > 0 {
		return missing
	}
	return nil
}

// Publication runs a transaction that may publish files and then ends with RequireCopies. If copies are missing, it is rolled back,
// the copies are made, and it runs again, so a file is not seen before its copy is there, and
// a request that fails or is cut off has changed nothing. Copies that are made stay for a while (CopyRetention), so that the same
// request finds them when it is sent again.
//
// Faults besides those of the transaction: storage_quota_exceeded if the budgets have no room for the copies; upload_busy if they take
// longer than 20 s, too many requests wait, or the process shuts down; invalid_attachment if no copy can be made of a file;
// service_unavailable if the machine fails to make it.
func (a *API) Publication(ctx context.Context, change func(ctx context.Context, tx *db.Tx) error) error {
	err := a.DB.Tx(ctx, change)
	missing := new(missingCopiesError)
	if !errors.As(err, &missing) {
		return err
	}
	if !a.publications.enter(missing.owner) {
		return fault.New(fault.UploadBusy)
	}
	defer a.publications.leave(missing.owner)
	ctx = db.Unbounded(ctx) // the wait is not the database's
	waited, cancel := context.WithTimeoutCause(ctx, cmp.Or(a.PublicationWait, publicationWait), errSlowCopies())
	defer cancel()
	for errors.As(err, &missing) {
		if err := a.makeCopies(waited, missing); err != nil {
			return err
		}
		err = a.DB.Tx(ctx, change)
	}
	return err
}

func errSlowCopies() error {
	return fault.New(fault.UploadBusy).Say("The public copies of the files are being made; nothing was changed; send the request again later.")
}

// makeCopies asks for copies and waits until all are made, or one cannot be.
func (a *API) makeCopies(ctx context.Context, m *missingCopiesError) error {
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		states, err := db.All[copyState](ctx, tx.SQL, copyStates, db.IDs(m.ids))
		if err != nil {
			return err
		}
		if err := a.checkRoom(ctx, tx, m.owner, states); err != nil {
			return err
		}
		return a.requestCopies(ctx, tx, m.ids, true)
	})
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for err == nil {
		var all bool
		if all, err = a.allMade(ctx, m.ids); all || err != nil {
			break
		}
		select {
		case <-tick.C:
		case <-a.Hurry:
			return errSlowCopies()
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// checkRoom refuses copies that are known not to fit, before any is made.
func (a *API) checkRoom(ctx context.Context, tx *db.Tx, owner uuid.UUID, states []*copyState) error {
	var need int64
	for _, s := range states {
		if !s.Made {
			need += max(1, s.Need)
		}
	}
	if room, err := hasRoom(ctx, tx, a.Quotas, owner, need); err != nil || room {
		return err
	}
	return errNoRoom()
}

// allMade reports whether all copies are made; it returns the fault of the first file that cannot be copied.
func (a *API) allMade(ctx context.Context, ids []uuid.UUID) (bool, error) {
	ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	states, err := db.All[copyState](ctx, a.DB.SQL, copyStates, db.IDs(ids))
	if err != nil {
		return false, err
	}
	all := true
	for _, s := range states {
		if err := s.fault(); err != nil {
			return false, err
		}
		all = all && s.Made
	}
	return all, nil
}

// publications counts the requests of this process that wait for copies.
type publications struct {
	mu  sync.Mutex
	all int
	of  map[uuid.UUID]int
}

// enter reports whether one more request of an agent may wait; then it must leave.
func (p *publications) enter(agent uuid.UUID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= maxPublications || p.of[agent] >= maxPublicationsPerAgent {
		return false
	}
	if p.of == nil {
		p.of = make(map[uuid.UUID]int)
	}
	p.all++
	p.of[agent]++
	return true
}

func (p *publications) leave(agent uuid.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[agent]--; p.of[agent] == 0 {
		delete(p.of, agent)
	}
}
