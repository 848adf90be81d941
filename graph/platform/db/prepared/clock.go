package prepared

import (
	"fmt"
	"sync/atomic"
	"time"
)

// ClockSetting is the session setting that carries a [Clock]'s shift, an
// interval text such as "86400 s". Unset means no shift: SQL reads it with
// current_setting('stoa.clock_shift', true).
const ClockSetting = "stoa.clock_shift"

const setClock = "SELECT pg_catalog.set_config('" + ClockSetting + "', $1, false)"

// Clock holds how far the database's clock is to run ahead of the true time.
// The zero value is no shift. Any goroutine may use it; one Clock may serve
// several connectors. It is how tests reach deadlines; production sets none.
type Clock struct {
	shift atomic.Int64
}

// Set puts the clock d ahead (behind, when negative), to the microsecond.
// A connection follows the next time the pool hands it out, so a transaction
// already begun keeps the time it had.
func (c *Clock) Set(d time.Duration) {
	c.shift.Store(int64(d.Truncate(time.Microsecond)))
}

// Shift returns the last argument of Set, truncated to the microsecond.
func (c *Clock) Shift() time.Duration {
	return time.Duration(c.shift.Load())
}

// interval writes d, whole microseconds, as PostgreSQL reads it.
func interval(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign = "-"
	}
	seconds, rest := d/time.Second, d%time.Second
	if rest == 0 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%s%d.%06d s", sign, seconds.Abs(), rest.Abs()/time.Microsecond)
}
