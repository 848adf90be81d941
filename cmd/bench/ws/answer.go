package ws

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// frame is a message of the server on a socket.
type frame struct {
	Type    string    `json:"type"`
	ID      uuid.UUID `json:"event_id"`
	Payload struct {
		ClientMessageID uuid.UUID `json:"client_message_id"`
	} `json:"payload"`
}

// acknowledge is the frame that acknowledges an event.
func acknowledge(id uuid.UUID) []byte { return fmt.Appendf(nil, `{"type":"ack","event_id":"%s"}`, id) }

// Delivered makes an operation: an agent sends a message, and its friend reads the event on an open socket and acknowledges it. The
// friend must have no unacknowledged events. The operation owns the socket, which close closes.
func Delivered(ctx context.Context, address string, a *world.Agent, c *load.Client) (op load.Op, closeSocket func(), err error) {
	conn, err := Open(ctx, address, a.Friend, eventBuffer)
	if err != nil {
		return nil, nil, err
	}
	var buffer []byte
	return func(context.Context) error {
		var id uuid.UUID
		buffer, id = scenarios.AppendMessage(buffer[:0], a)
		if _, err := c.Expect(201, buffer); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(deliveryTimeout)); err != nil {
			return err
		}
		for {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				return err
			}
			var f frame
			if err := json.Unmarshal(raw, &f); err != nil {
				return err
			}
			if f.Type == "event" && f.Payload.ClientMessageID == id {
				return conn.WriteMessage(websocket.TextMessage, acknowledge(f.ID))
			}
		}
	}, func() { _ = conn.Close() }, nil
}
