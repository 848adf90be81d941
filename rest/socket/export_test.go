package socket

import (
	"context"
	"time"
)

// NoteActivity runs the step that otherwise runs once a minute.
func (h *Hub) NoteActivity(ctx context.Context) { h.noteActivity(ctx) }

// Fetched is how often sessions have read events.
func (h *Hub) Fetched() int64 { return h.counts.fetched.Load() }

// Horizon is the sequence up to which every event is visible.
func (h *Hub) Horizon() int64 { return h.horizon.Load() }

// SetWriteTimeout changes how long a frame may take to go out. It must be called before connections open.
func (h *Hub) SetWriteTimeout(d time.Duration) { h.writeTimeout = d }

// SetReleaseTimeout changes how long a connection that ends waits for its slot to be free. It must be called before connections open.
func (h *Hub) SetReleaseTimeout(d time.Duration) { h.releaseTimeout = d }

// StatementsAtOnce is how many sessions and polls use the database at the same time.
const StatementsAtOnce = statementsAtOnce

// SetStreamLife changes how long a stream lasts. It must be called before streams open.
func (h *Hub) SetStreamLife(d time.Duration) { h.streamLife = d }
