package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/mail"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/secrets"
	"stoa/graph"
	"stoa/graph/attachments"
	"stoa/graph/email"
	"stoa/graph/platform/db"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/slack"
	"stoa/graph/server"
	"stoa/jobs"
	"stoa/jobs/inspection"
	"stoa/rest"
	"stoa/rest/client/keylog/witness"
	"stoa/rest/socket"
)

// process is one running server. start opens the parts one after the other; stop closes the open ones in reverse order, except
// the parts that serve requests.
type process struct {
	settings *settings
	log      *slog.Logger
	draining atomic.Bool
	// shutdownSoon is closed during the shutdown, when requests that still wait must be answered.
	shutdownSoon chan struct{}
	// fail ends the context of start and wait with an error.
	fail context.CancelCauseFunc
	// closers end the parts, the first one last.
	closers []func(context.Context) error

	secretKey []byte
	mail      email.Mailer // nil: mail is not set up
	mailFrom  *mail.Address

	metrics *metrics.Metrics
	tracer  trace.Tracer // nil: traces are off

	public, operator *httpserver.Server
	private          *cluster.Cluster
	databaseURL      string
	files            *attachments.Store
	db, reads, long  *db.DB // reads serves anonymous reads, long searches
	newConnections   *db.NewConnections
	replica          *readpool.Replica // nil without a standby
	domains          *graph.Graph
	sockets          *socket.Hub // nil before it runs
	clock            *jobs.Clock
	jobs             *jobs.Jobs
	measures         atomic.Value // []inspection.Measure of the first child that inspects files; empty before it runs
	dashboard        *jobs.Dashboard
	signInCodes      *server.SignInCodes
	filling          sync.WaitGroup // a run of fill
}

func newProcess(settings *settings, log *slog.Logger, fail context.CancelCauseFunc) *process {
	return &process{
		settings: settings, log: log, shutdownSoon: make(chan struct{}), fail: fail, signInCodes: new(server.SignInCodes),
	}
}

// atEnd registers end, which stop calls.
func (p *process) atEnd(end func(context.Context) error) { p.closers = append(p.closers, end) }

// background does work until the end of the process.
func (p *process) background(work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { work(ctx) })
	p.atEnd(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
}

// start opens the parts. The listeners come first: while the process waits for the database, health answers and everything else
// is service_unavailable. After an error the caller must call stop.
func (p *process) start(ctx context.Context) error {
	if err := os.MkdirAll(p.settings.DataDir, 0o700); err != nil {
		return err
	}
	token, err := p.settings.token(p.settings.DataDir)
	if err = cmp.Or(err, p.settings.checkKey(p.settings.DataDir)); err != nil {
		return err
	}
	if p.mail, p.mailFrom, err = p.settings.mailSettings.open(p.settings.DataDir); err != nil {
		return err
	}
	if err := p.openTelemetry(ctx); err != nil {
		return err
	}
	config, wait := p.restConfig(), func(context.Context) error { return errors.New("the server is starting") }
	config.Starting, config.Checks = true, metrics.Checks{"database": wait, "migrations": wait, "jobs": wait, "storage": wait}
	starting := rest.New(config)
	if p.public, err = p.listen(ctx, "public", p.settings.Listen, publicShare, starting); err != nil {
		return err
	}
	operatorStarting := p.startingOperator(starting)
	if p.operator, err = p.listen(ctx, "operator", p.settings.OperatorListen, operatorShare, operatorStarting); err != nil {
		return err
	}
	if p.files, err = p.settings.openFiles(ctx, p.settings.filesFolder()); err != nil {
		return err
	}
	p.atEnd(func(context.Context) error { return p.files.Close() })
	secrets.Forget() // settings, traces, mail and files have read their secrets
	if err := p.openDatabase(ctx); err != nil {
		return err
	}
	err = db.UsePlain(p.directURL(), func(pool *sql.DB) (err error) {
		p.secretKey, err = p.settings.claimKey(ctx, p.settings.DataDir, pool)
		return err
	})
	if err != nil {
		return err
	}
	if p.clock, err = jobs.NewClock(ctx, p.db.Direct); err != nil {
		return err
	}
	// Every process has a hub, to notify the other processes; the role events decides whether agents may connect to it.
	hub := socket.New(socket.Config{
		URL: p.directURL(), Quotas: p.settings.Limit, Origin: p.origin(), AllowedOrigins: p.settings.AllowedOrigins, Logger: p.log,
	})
	graphConfig, err := p.graphConfig(hub)
	if err != nil {
		return err
	}
	domains := graph.New(graphConfig)
	p.domains, hub.Graph = domains, domains
	if err := p.beginLog(ctx); err != nil {
		return err
	}
	p.sockets = hub
	p.background(func(ctx context.Context) { _ = hub.Run(ctx) }) // it returns nil
	if err := p.repeatErasures(ctx, domains.Lifecycle); err != nil {
		return err
	}
	if err := p.startJobs(ctx, domains); err != nil {
		return err
	}
	p.registerMetrics(domains)
	p.startHeartbeat(domains)
	p.public.Handle(rest.New(p.servingConfig(domains)))
	return p.serveOperator(domains, token)
}

// openDatabase starts the private cluster if no database is set, migrates the database, and opens its pools.
func (p *process) openDatabase(ctx context.Context) (err error) {
	if p.databaseURL, p.private, err = p.settings.locateDatabase(ctx, p.log, p.fail); err != nil {
		return err
	}
	if p.private != nil {
		p.atEnd(func(ctx context.Context) error { return withTimeout(ctx, clusterTimeout, p.private.Stop) })
	}
	if err := migrateDatabase(ctx, p.directURL(), p.log); err != nil {
		return err
	}
	options := db.Options{DirectURL: p.directURL()}
	if p.db, err = db.Open(p.databaseURL, options); err != nil {
		return err
	}
	p.atEnd(func(context.Context) error { return p.db.Close() })
	p.newConnections = &db.NewConnections{DB: p.db}
	if err := p.settings.Limit.StoreTexts(ctx, p.db.SQL); err != nil {
		return err
	}
	if p.reads, err = db.Open(p.databaseURL, readpool.Options(options)); err != nil {
		return err
	}
	p.atEnd(func(context.Context) error { return p.reads.Close() })
	if p.long, err = db.Open(p.databaseURL, readpool.LongOptions(options)); err != nil {
		return err
	}
	p.atEnd(func(context.Context) error { return p.long.Close() })
	return p.openReplica(options)
}

// directURL is the URL for work that needs a session.
func (p *process) directURL() string { return p.settings.directURL(p.databaseURL) }

// startJobs starts the work of the role jobs.
func (p *process) startJobs(ctx context.Context, domains *graph.Graph) (err error) {
	if !p.settings.has("jobs") {
		return nil
	}
	if err := inspection.FindProgram(); err != nil {
		return err
	}
	inspector := inspection.NewInspector()
	p.atEnd(func(context.Context) error {
		inspector.Close()
		return nil
	})
	p.background(func(ctx context.Context) { p.findMeasures(ctx, inspector) })
	p.jobs, err = jobs.Start(ctx, jobs.Config{
		Graph: domains, DB: p.db, URL: p.directURL(), Clock: p.clock, Logger: p.log, Metrics: p.metrics, Tracer: p.tracer,
		BackUp: p.makeDailyBackup, Inspector: inspector,
	})
	return err
}

// witnessTimeout is how long the key log waits for one witness.
var witnessTimeout = slack.Of(2 * time.Second)

func (p *process) graphConfig(hub *socket.Hub) (graph.Config, error) {
	enqueue, err := jobs.NewEnqueue(p.db, p.clock, p.log)
	if err != nil {
		return graph.Config{}, err
	}
	config := graph.Config{
		DB: p.db, Reads: p.reads, Long: p.long, Replica: p.replica, Metrics: p.metrics,
		Quotas: p.settings.Limit, TokenTTL: p.settings.TokenTTL, Files: p.files, Enqueue: enqueue, Backup: p.makeBackup, LastBackup: p.lastBackup,
		RecordErased: p.settings.recordErased,
		DrawPage:     jobs.DrawPage,
		ShutdownSoon: p.shutdownSoon,
		Sockets:      hub,
		Origin:       p.origin(),
		Mail:         p.mail,
		MailFrom:     p.mailFrom,
		LogHead:      p.settings.logHead(),
		SecretKey:    p.secretKey,
		Webhooks:     p.settings.sender(),
	}
	if targets := p.settings.targets(); len(targets) > 0 {
		config.Witnesses = witness.NewSubmitter(targets, witnessTimeout)
	}
	return config, nil
}
