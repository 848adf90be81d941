// Package ws measures the event channel: how soon after its response a message arrives at the recipient, the memory of idle
// sockets and of polls that wait, and the processor time of sockets that acknowledge nothing.
package ws

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"stoa/cmd/bench/world"
)

const (
	handshakeTimeout = 20 * time.Second
	smallBuffer      = 512
	latestVersion    = "stoa.events.v2"
	// handshakes is the number of handshakes at the same time.
	handshakes = 32
)

// Open opens an agent's event socket, with a read buffer of that number of bytes, for the events of all versions: what a connection of
// an earlier version leaves out would wait for ever.
func Open(ctx context.Context, address string, a *world.Agent, buffer int) (*websocket.Conn, error) {
	dialer := websocket.Dialer{
		HandshakeTimeout: handshakeTimeout, ReadBufferSize: buffer, WriteBufferSize: smallBuffer, Subprotocols: []string{latestVersion},
	}
	header := http.Header{"Authorization": {"Bearer " + a.Token}}
	conn, response, err := dialer.DialContext(ctx, "ws://"+address+"/ws/v1/events/", header)
	if err != nil {
		return nil, err
	}
	return conn, response.Body.Close()
}

// openMany opens count sockets, one agent after the other and around again. It also returns the open ones when one failed.
func openMany(ctx context.Context, address string, agents []*world.Agent, count, buffer int) ([]*websocket.Conn, error) {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		conns []*websocket.Conn
		errs  []error
		next  = make(chan *world.Agent)
	)
	for range handshakes {
		group.Go(func() {
			for a := range next {
				conn, err := Open(ctx, address, a, buffer)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					conns = append(conns, conn)
				}
				failed := len(errs) > 0
				mu.Unlock()
				if failed {
					break
				}
			}
			for range next { // drained for the sender
				continue
			}
		})
	}
	for i := range count {
		next <- agents[i%len(agents)]
	}
	close(next)
	group.Wait()
	return conns, errors.Join(errs...)
}

func closeAll(conns []*websocket.Conn) {
	for _, conn := range conns {
		_ = conn.Close() // a broken one is closed as well
	}
}

func waitUntil(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(at)):
		return nil
	}
}
