package socket

import (
	"context"
	"time"
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
