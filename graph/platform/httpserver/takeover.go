package httpserver

import (
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// TakenOver is a connection whose answer comes after its handler has returned. It costs neither the goroutines nor the buffers of
// net/http. Its owner sets the deadlines, reads in order to notice that the client leaves, and closes it; it counts towards the limits
// until then. It serves no further request. A method that fails has nothing to undo.
type TakenOver struct {
	net.Conn

	header http.Header
}

// TakeOver takes the connection over from the request that w answers, with the header fields that are set by then.
func TakeOver(w http.ResponseWriter) (*TakenOver, error) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	_ = conn.SetDeadline(time.Time{})                // a connection that is closed already shows at the next read
	return &TakenOver{conn, w.Header().Clone()}, nil // the handler's is still read after it has returned
}

// Answer writes a whole answer, which is the one that write gives.
func (t *TakenOver) Answer(write func(http.ResponseWriter)) error {
	a := recorded{header: t.header}
	write(&a)
	_, err := t.Write(a.text())
	return err
}

// Begin writes the beginning of an answer that lasts until the connection is closed, and the first bytes of its body.
func (t *TakenOver) Begin(status int, body []byte) error {
	return t.Answer(func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = w.Write(body) // it is kept in memory
	})
}

// EndUnlessHeard makes the system end the connection if its client has not confirmed sent bytes for that time. A client that has
// lost its network or its power never confirms them.
func (t *TakenOver) EndUnlessHeard(after time.Duration) {
	socket, ok := t.Conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return // it is closed already
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds())) // else the system's own
	})
}
