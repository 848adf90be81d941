package socket

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
)

// NoteActivity runs a step that normally runs once a minute.
func (h *Hub) NoteActivity(ctx context.Context) { h.noteActivity(ctx) }

// Fetched returns how often sessions and polls have read events.
func (h *Hub) Fetched() int64 { return h.counts.fetched.Load() }

// Horizon returns the sequence up to which every event is visible.
func (h *Hub) Horizon() int64 { return h.horizon.Load() }

// SetWriteTimeout changes how long sending a frame may take. Call it before connections open.
func (h *Hub) SetWriteTimeout(d time.Duration) { h.writeTimeout = d }

// SetReleaseTimeout changes how long a closing connection waits for its slot to be free. Call it before connections open.
func (h *Hub) SetReleaseTimeout(d time.Duration) { h.releaseTimeout = d }

// StatementsAtOnce is how many sessions and polls use the database at the same time.
const StatementsAtOnce = statementsAtOnce

// SetStreamLife changes how long a stream lasts. Call it before streams open.
func (h *Hub) SetStreamLife(d time.Duration) { h.streamLife = d }

// FuzzReadAck checks that an accepted frame has the type ack, one event id and no other member.
func FuzzReadAck(f *testing.F) {
	id := "0190a5d4-7c1e-7000-8000-0123456789ab"
	for _, seed := range []string{
		`{"type":"ack","event_id":"` + id + `"}`, `{"event_id":"` + id + `","type":"ack"}`, `{"type":"ack"}`, `{}`, ``, `null`, `[]`,
		`{"type":"ack","event_id":null}`, `{"type":"ack","event_id":"` + id + `","x":1}`, `{"type":"ack","event_id":"{` + id + `}"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		event, err := readAck(b)
		if err != nil {
			require.Equal(t, errProtocol, err)
			return
		}
		var members map[string]wire.Raw
		require.NoError(t, wire.Unmarshal(b, &members))
		require.Len(t, members, 2)
		var kind string
		require.NoError(t, unquote(members["type"], &kind))
		require.Equal(t, "ack", kind)
		var spelled string
		require.NoError(t, unquote(members["event_id"], &spelled))
		require.NotEmpty(t, spelled)
		parsed, err := uuid.Parse(spelled)
		if err != nil || len(spelled) != len(id) {
			parsed = uuid.Nil
		}
		require.Equal(t, parsed, event)
	})
}

// unquote reads a JSON string.
func unquote(raw wire.Raw, into *string) error {
	var holder struct {
		S *string `json:"s"`
	}
	if err := wire.Unmarshal([]byte(`{"s":`+string(raw)+`}`), &holder); err != nil {
		return err
	}
	if holder.S == nil {
		return errors.New("not a string")
	}
	*into = *holder.S
	return nil
}
