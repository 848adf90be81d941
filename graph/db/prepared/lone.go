package prepared

import (
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lonely is how many reads in a row must have been the only one for the next to wait by itself.
	lonely = 32
	// glances is how long such a reader looks again and again: what is found by keys has come by then, and a processor that does not
	// fall asleep needs not be woken. After that it sleeps in the kernel, for so many milliseconds, in which most statements end.
	glances    = 100 * time.Microsecond
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

// waiter waits for a socket by itself instead of through the runtime's poller, where an answer wakes a thread, which wakes the next to
// look for more: on two cores that took a quarter of the time of a request that is alone. A thread that waits so keeps its processor from
// other goroutines until the runtime takes it away, which is why only one reader does, and none where there is much to do or just one
// processor. Between two looks it lets the processor's other threads run, such as the one that makes the answer.
type waiter struct{ socket syscall.RawConn }

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
	return waiter{socket}
}

// glance waits for a socket; whatever comes of it, the read that follows tells.
func glance(socket uintptr) {
	asked := [1]unix.PollFd{{Fd: int32(socket), Events: unix.POLLIN}}
	for begun := time.Now(); time.Since(begun) < glances; {
		if n, err := unix.Poll(asked[:], 0); n > 0 || err != nil {
			return
		}
		_, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	}
	_, _ = unix.Poll(asked[:], lonelyWait)
}

// await waits until there is something to read, or not so long.
func (w waiter) await() {
	if w.socket != nil {
		_ = w.socket.Control(glance) // as in glance
	}
}
