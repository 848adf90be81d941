package socket

import (
	"context"
	"net"
	"net/http"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// maxUnread is how many bytes a client may send on a connection on which it has nothing to say.
const maxUnread = 64 << 10

// admit leases a slot for a stream or a poll, under the number of the process that it returns. Faults: rate_limited if none is
// free, service_unavailable.
func (h *Hub) admit(r *http.Request, v viewer.Viewer) (events.Slot, int32, error) {
	ctx, cancel := context.WithTimeout(r.Context(), handshakeTimeout)
	defer cancel()
	process, refused := h.awaitProcess(ctx), &errAway
	var slot events.Slot
	if process != 0 {
		slot, refused = h.takeSlot(ctx, process, v)
	}
	if refused == nil {
		return slot, process, nil
	}
	h.counts.closed(refused.code)
	if *refused == errFull {
		return slot, 0, faultFull()
	}
	return slot, 0, fault.New(fault.ServiceUnavailable)
}

// faultFull is errFull for a client of REST.
func faultFull() error {
	return fault.New(fault.RateLimited).Say("All places of this agent, or of the server, on the event channel are taken.")
}

// awaitEnd drops everything that a client sends, until it leaves, sends too much, or the connection is closed.
func awaitEnd(conn net.Conn) {
	var scratch [64]byte
	for unread := 0; unread <= maxUnread; {
		n, err := conn.Read(scratch[:])
		if err != nil {
			return
		}
		unread += n
	}
}
