package main

import (
	"context"

	"stoa/graph"
	"stoa/rest/socket"
)

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
		Graph: domains, URL: address, Quotas: p.settings.Limit.quotas(), Origin: p.settings.BaseURL,
		AllowedOrigins: p.settings.AllowedOrigins, Logger: p.log,
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
