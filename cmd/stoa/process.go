package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"stoa/cmd/stoa/cluster"
	"stoa/graph"
	"stoa/graph/db"
	"stoa/rest"
)

// process is one running server. start sets the parts one after the other; stop takes down those that are there, in the
// opposite order, so that the private cluster is the last to go.
type process struct {
	settings *settings
	log      *slog.Logger
	draining atomic.Bool

	public  *listener
	private *cluster.Cluster
	db      *db.DB
}

// start brings the parts up. The public listener comes first: while the database is being waited for, health answers and the
// API is service_unavailable.
func (p *process) start(ctx context.Context) error {
	if err := os.MkdirAll(p.settings.DataDir, 0o700); err != nil {
		return err
	}
	var err error
	if p.public, err = listen(p.settings.Listen, rest.New(p.starting()), p.log); err != nil {
		return err
	}
	address, private, err := p.settings.locate(ctx, p.log)
	if err != nil {
		return err
	}
	p.private = private
	if err := migrated(ctx, address, p.log); err != nil {
		return err
	}
	if p.db, err = db.Open(address, db.Options{}); err != nil {
		return err
	}
	domains := graph.New(graph.Config{DB: p.db, Quotas: p.settings.Limit.quotas(), TokenTTL: p.settings.TokenTTL})
	p.public.serve(rest.New(p.serving(domains)))
	return nil
}

// The shutdown, by the time since the signal (§11). All of it fits into 20 s.
const (
	// lameDuck is how long a load balancer has to notice that this process is not ready any more.
	lameDuck = 2 * time.Second
	// inHand is what requests and jobs may take from then on.
	inHand = 11 * time.Second
	// clusterDown is left for the private cluster.
	clusterDown = 5 * time.Second
)

// stop takes the process down. cause is why it ends, nil where it was asked to.
func (p *process) stop(ctx context.Context, cause error) error {
	p.draining.Store(true)
	failed := []error{cause}
	if p.public != nil {
		if cause == nil && p.db != nil {
			time.Sleep(lameDuck)
		}
		deadline, cancel := context.WithTimeout(ctx, inHand)
		defer cancel()
		if err := p.public.finish(deadline); err != nil {
			p.log.Warn("shutdown", "error", err)
		}
	}
	if p.db != nil {
		failed = append(failed, p.db.Close())
	}
	if p.private != nil {
		deadline, cancel := context.WithTimeout(ctx, clusterDown)
		defer cancel()
		failed = append(failed, p.private.Stop(deadline))
	}
	p.log.Info("stopped")
	return errors.Join(failed...)
}
