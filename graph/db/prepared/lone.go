package prepared

import (
	"net"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// lonely is how many reads in a row must have been the only one for the next to wait by itself.
	lonely = 32
	// lonelyWait is how many milliseconds a reader waits by itself, long enough for most statements.
	lonelyWait = 2
)

// crowd counts those who wait for PostgreSQL, to tell a reader whether it is alone.
type crowd struct {
	waiting, lone atomic.Int32
}

// readers are those of all lines of this process, which share its processors.
var readers crowd

// enter begins a read and tells whether reads have been alone for a while.
func (c *crowd) enter() (alone bool) {
	if c.waiting.Add(1) > 1 {
		c.lone.Store(0)
		return false
	}
	if n := c.lone.Load(); n < lonely {
		c.lone.Store(n + 1)
		return false
	}
	return true
}

func (c *crowd) leave() { c.waiting.Add(-1) }

// waiter waits for a socket in the kernel instead of the runtime's poller: the thread that asked is woken by the answer itself. Through
// the poller an answer wakes a thread, which wakes the next to look for more, and on two cores these take a tenth of the time of a
// request that is alone. A thread that waits so keeps its processor from other goroutines until the runtime takes it away, which
// is why only one reader does, and none where there is much to do or just one processor.
type waiter struct {
	socket syscall.RawConn
	wait   func(fd uintptr)
}

// newWaiter returns one that does nothing where the connection is no socket.
func newWaiter(conn net.Conn) waiter {
	inner, ok := conn.(syscall.Conn)
	if !ok || runtime.GOMAXPROCS(0) == 1 {
		return waiter{}
	}
	socket, err := inner.SyscallConn()
	if err != nil {
		return waiter{}
	}
	return waiter{socket, func(fd uintptr) {
		asked := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, _ = unix.Poll(asked[:], lonelyWait) // whatever comes of it, the read that follows tells
	}}
}

// await waits until there is something to read, or not so long.
func (w waiter) await() {
	if w.socket != nil {
		_ = w.socket.Control(w.wait) // as in wait
	}
}
