package main

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/secrets"
	"stoa/graph"
	"stoa/graph/platform/db"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/readpool"
	"stoa/jobs"
	"stoa/rest"
)

// process is one running server. start sets the parts one after the other; stop takes down those that are there, in the
// opposite order, so that the private cluster is the last to go.
type process struct {
	settings *settings
	log      *slog.Logger
	draining atomic.Bool
	// hurry is closed when requests in hand must come to their end.
	hurry chan struct{}

	metrics *metrics.Metrics
	traces  *traces

	public, operator *httpserver.Server
	private          *cluster.Cluster
	address          string // of the database
	files            *blob.Bucket
	db, reads        *db.DB // reads is that of searches and anonymous reads
	sockets          *sockets
	jobs             *jobs.Jobs
	inspections      inspections
	dashboard        *jobs.Dashboard
}

// newProcess is a process that has not started anything.
func newProcess(settings *settings, log *slog.Logger) *process {
	return &process{settings: settings, log: log, hurry: make(chan struct{})}
}

// start brings the parts up. The listeners come first: while the database is being waited for, health answers and everything
// else is service_unavailable.
func (p *process) start(ctx context.Context) error {
	setGC()
	if err := os.MkdirAll(p.settings.DataDir, 0o700); err != nil {
		return err
	}
	token, err := p.settings.token(p.settings.DataDir)
	if err != nil {
		return err
	}
	if err := p.openTelemetry(ctx); err != nil {
		return err
	}
	starting := rest.New(p.starting())
	if p.public, err = p.listen(ctx, "public", p.settings.Listen, publicShare, starting); err != nil {
		return err
	}
	if p.operator, err = p.listen(ctx, "operator", p.settings.OperatorListen, operatorShare, p.early(starting)); err != nil {
		return err
	}
	if p.files, err = p.openFiles(ctx); err != nil {
		return err
	}
	secrets.Forget() // settings, traces and files have read theirs
	address, private, err := p.settings.locate(ctx, p.log)
	if err != nil {
		return err
	}
	p.address, p.private = address, private
	if err := migrated(ctx, address, p.log); err != nil {
		return err
	}
	if p.db, err = db.Open(address, db.Options{Traced: p.traces != nil}); err != nil {
		return err
	}
	if err := explainPooler(p.db.Ping(ctx)); err != nil {
		return err
	}
	if p.reads, err = db.Open(address, readpool.Options(db.Options{Traced: p.traces != nil})); err != nil {
		return err
	}
	domains, err := p.domains()
	if err != nil {
		return err
	}
	p.sockets = p.openSockets(domains, address)
	if p.settings.has("jobs") {
		p.inspections.open(ctx, p.log)
		if p.jobs, err = jobs.Start(ctx, jobs.Config{
			Graph: domains, DB: p.db, URL: address, Logger: p.log, Metrics: p.metrics, Tracer: p.traces.tracer(), BackUp: p.backUpDaily,
			Inspector: p.inspections.inspector,
		}); err != nil {
			return err
		}
	}
	p.measure(domains)
	p.public.Handle(rest.New(p.serving(domains)))
	if err := p.openOperator(domains, token); err != nil {
		return err
	}
	return nil
}

// domains and event sockets need each other: no operation runs before start has set both.
func (p *process) domains() (*graph.Graph, error) {
	enqueue, err := jobs.NewEnqueue(p.db, p.log)
	if err != nil {
		return nil, err
	}
	return graph.New(graph.Config{
		DB: p.db, Reads: p.reads, ReadMetrics: p.metrics.Reads,
		Quotas: p.settings.Limit.quotas(), TokenTTL: p.settings.TokenTTL, Files: p.files, Enqueue: enqueue, Backup: p.backUp,
		Hurry:       p.hurry,
		Wake:        func(recipients []uuid.UUID) { p.sockets.Wake(recipients) },
		Withdrawn:   func(recipients []uuid.UUID) { p.sockets.Withdrawn(recipients) },
		TokensEnded: func() { p.sockets.TokensEnded() },
	}), nil
}
