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
	handshakeTime = 20 * time.Second
	smallBuffer   = 512
	atOnce        = 32
)

// open connects an agent to the event channel of a server.
func open(ctx context.Context, address string, a *world.Agent, buffer int) (*websocket.Conn, error) {
	dialer := websocket.Dialer{HandshakeTimeout: handshakeTime, ReadBufferSize: buffer, WriteBufferSize: smallBuffer}
	conn, response, err := dialer.DialContext(ctx, "ws://"+address+"/ws/v1/events/", http.Header{"Authorization": {"Bearer " + a.Token}})
	if err != nil {
		return nil, err
	}
	return conn, response.Body.Close()
}

// openMany connects count agents, in turn, and returns those that are open also when one of them failed.
func openMany(ctx context.Context, address string, agents []*world.Agent, count, buffer int) ([]*websocket.Conn, error) {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		conns []*websocket.Conn
		errs  []error
		next  = make(chan *world.Agent)
	)
	for range atOnce {
		group.Go(func() {
			for a := range next {
				conn, err := open(ctx, address, a, buffer)
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
			for range next { // the rest is taken off the sender's hands
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
		_ = conn.Close() // one that is broken already is as closed
	}
}
