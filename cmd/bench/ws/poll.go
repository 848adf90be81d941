package ws

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// openSockets is the server's metric of the sockets, streams and polls on its event channel.
const openSockets = "stoa_sockets_open"

// pollers are clients that poll for events and wait.
type pollers struct {
	all sync.WaitGroup
	// failed is why one of them gave up.
	failed atomic.Pointer[error]
}

// start has an agent poll until ctx ends, again whenever it is answered.
func (p *pollers) start(ctx context.Context, address string, a *world.Agent) {
	request := load.AppendRequest(nil, "GET", "/api/v1/events?wait=50", a.Token, nil)
	p.all.Go(func() {
		for ctx.Err() == nil {
			if err := poll(ctx, address, request); err != nil && ctx.Err() == nil {
				p.failed.CompareAndSwap(nil, &err)
				return
			}
		}
	})
}

// poll makes one request and waits for its answer.
func poll(ctx context.Context, address string, request []byte) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close() // the server closes it with its answer
	if _, err := conn.Write(request); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, conn)
	return err
}

// await waits until that number of polls wait on the server.
func (p *pollers) await(ctx context.Context, server *world.Process, waiting int) error {
	const interval = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	for {
		if failed := p.failed.Load(); failed != nil {
			return *failed
		}
		figures, err := server.Metrics(ctx, openSockets)
		if err != nil || figures[openSockets] >= float64(waiting) {
			return err
		}
		if err := waitUntil(ctx, time.Now().Add(interval)); err != nil {
			return err
		}
	}
}
