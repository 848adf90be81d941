package socket

import "context"

// NoteActivity is what happens once a minute.
func (h *Hub) NoteActivity(ctx context.Context) { h.noteActivity(ctx) }
