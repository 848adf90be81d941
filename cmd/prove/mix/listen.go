package mix

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"stoa/cmd/bench/world"
	"stoa/cmd/bench/ws"
)

const (
	// socketLife is the mean time after which an agent leaves its socket and opens another.
	socketLife = time.Minute
	// socketBuffer is large enough for an event with its message.
	socketBuffer = 4 << 10
)

// Heard counts what came over the event sockets.
type Heard struct{ Sockets, Events, Acked atomic.Int64 }

// Listen holds an event socket for every agent until ctx is done, acknowledges each event at once, and leaves a socket after a minute
// or so for another. Sockets that cannot be opened are noted as failures.
func (m *Mix) Listen(ctx context.Context, heard *Heard, failures *Failures) {
	var listening sync.WaitGroup
	for _, a := range m.Agents {
		listening.Go(func() {
			for ctx.Err() == nil {
				if err := m.listen(ctx, a, heard); err != nil && ctx.Err() == nil {
					failures.Add(err)
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			}
		})
	}
	listening.Wait()
}

func (m *Mix) listen(ctx context.Context, a *world.Agent, heard *Heard) error {
	conn, err := ws.Open(ctx, m.Address, a, socketBuffer)
	if err != nil {
		return err
	}
	heard.Sockets.Add(1)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	left := time.Now().Add(time.Duration(rand.ExpFloat64() * float64(socketLife)))
	if err := conn.SetReadDeadline(left); err != nil {
		return err
	}
	for {
		_, raw, err := conn.ReadMessage()
		if err != nil {
			_ = conn.Close() // it may be broken
			if time.Now().Before(left) {
				return err
			}
			return nil
		}
		var frame struct {
			Type    string `json:"type"`
			EventID string `json:"event_id"`
		}
		if err := json.Unmarshal(raw, &frame); err != nil {
			return err
		}
		switch frame.Type {
		case "acked":
			heard.Acked.Add(1)
		case "event":
			heard.Events.Add(1)
			if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ack","event_id":"`+frame.EventID+`"}`)); err != nil {
				return err
			}
		}
	}
}
