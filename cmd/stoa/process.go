package main

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/cmd/stoa/cluster"
	"stoa/graph"
	"stoa/graph/db"
	"stoa/graph/endpoint"
	"stoa/rest"
	"stoa/rest/socket"
)

// process is one running server. start sets the parts one after the other; stop takes down those that are there, in the
// opposite order, so that the private cluster is the last to go.
type process struct {
	settings *settings
	log      *slog.Logger
	draining atomic.Bool

	public, operator *listener
	private          *cluster.Cluster
	files            *blob.Bucket
	db               *db.DB
	sockets          *sockets
}

// start brings the parts up. The listeners come first: while the database is being waited for, health answers and everything
// else is service_unavailable.
func (p *process) start(ctx context.Context) error {
	if err := os.MkdirAll(p.settings.DataDir, 0o700); err != nil {
		return err
	}
	token, err := p.settings.token(p.settings.DataDir)
	if err != nil {
		return err
	}
	starting := rest.New(p.starting())
	if p.public, err = listen("public", p.settings.Listen, starting, p.log); err != nil {
		return err
	}
	if p.operator, err = listen("operator", p.settings.OperatorListen, starting, p.log); err != nil {
		return err
	}
	if p.files, err = p.openFiles(ctx); err != nil {
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
	domains := p.domains()
	p.sockets = p.openSockets(domains, address)
	p.public.serve(rest.New(p.serving(domains)))
	p.operator.serve(endpoint.New(endpoint.Config{Graph: domains, Logger: p.log, OperatorToken: token}))
	return nil
}

// domains and event sockets need each other: no operation runs before start has set both.
func (p *process) domains() *graph.Graph {
	return graph.New(graph.Config{
		DB: p.db, Quotas: p.settings.Limit.quotas(), TokenTTL: p.settings.TokenTTL, Files: p.files,
		Wake:        func(recipients []uuid.UUID) { p.sockets.Wake(recipients) },
		TokensEnded: func() { p.sockets.TokensEnded() },
	})
}

// sockets is a running hub.
type sockets struct {
	*socket.Hub
	cancel context.CancelFunc
	ended  chan error
}

// openSockets starts the hub. Every process has one, to tell the others what happened; the role decides who may connect.
func (p *process) openSockets(domains *graph.Graph, address string) *sockets {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sockets{cancel: cancel, ended: make(chan error, 1), Hub: socket.New(socket.Config{
		Graph: domains, URL: address, Quotas: p.settings.Limit.quotas(), AllowedOrigins: p.settings.AllowedOrigins, Logger: p.log,
	})}
	go func() { s.ended <- s.Run(ctx) }()
	return s
}

// leave closes every socket with 1013.
func (s *sockets) leave(ctx context.Context) error {
	s.Drain(ctx)
	return ctx.Err()
}

// finish ends the hub, when no operation can wake it any more.
func (s *sockets) finish() error {
	s.cancel()
	return <-s.ended
}
