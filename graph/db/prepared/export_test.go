package prepared

import "net"

// Lonely is how many reads in a row are alone before one waits by itself.
const Lonely = lonely

// Crowd is crowd for tests.
type Crowd struct{ crowd }

// Enter is enter.
func (c *Crowd) Enter() bool { return c.enter() }

// Leave is leave.
func (c *Crowd) Leave() { c.leave() }

// Await waits as a reader that is alone does.
func Await(conn net.Conn) {
	w := newWaiter(conn)
	w.await()
}
