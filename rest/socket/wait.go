package socket

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// wait waits until the client has said something. It is all that an idle connection does, thousands of them at the same time, so it is a
// goroutine of its own whose stack never grows: calls between here and the runtime are few, and whatever happens next happens on
// another goroutine's.
func (s *session) wait() {
	err := s.socket.Read(readable)
	go s.read(err)
}

// readable tells whether a read of a socket would not wait: there is something to read, or an end.
func readable(socket uintptr) bool {
	asked := [1]unix.PollFd{{Fd: int32(socket), Events: unix.POLLIN}}
	n, err := unix.Poll(asked[:], 0)
	return n > 0 || err != nil // whatever is wrong, the read tells
}

// socketOf returns what wait waits on.
func socketOf(conn net.Conn) (syscall.RawConn, error) {
	inner, ok := conn.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("socket: %T is no socket", conn)
	}
	return inner.SyscallConn()
}
