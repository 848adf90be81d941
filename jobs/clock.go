package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"
)

// clockInterval is how often the clock is compared with the database's: two good clocks drift apart by less than 10 ms in it.
const clockInterval = time.Minute

// Clock gives River the database's time instead of the host's. River writes when a job begins and when it is tried again, which
// other processes and the database read: a host whose clock is an hour ahead would delay every job by an hour. Between two
// comparisons it uses the host's monotonic clock, so setting the host's clock does not move it. Safe for concurrent use.
type Clock struct{ compared atomic.Pointer[comparison] }

// comparison is a moment on the host's clock, and how far the database's was ahead of it then.
type comparison struct {
	host  time.Time
	ahead time.Duration
}

// NewClock compares the clock once, and then every minute until ctx ends.
func NewClock(ctx context.Context, database *sql.DB) (*Clock, error) {
	c := new(Clock)
	if err := c.compare(ctx, database); err != nil {
		return nil, err
	}
	go c.keep(ctx, database)
	return c, nil
}

func (c *Clock) compare(ctx context.Context, database *sql.DB) error {
	var there time.Time
	if err := database.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return fmt.Errorf("compare the clock: %w", err)
	}
	// A reported time is older than its arrival, so the clock is rather behind than ahead. If it were ahead, a job that is due now
	// would wait for the next poll.
	host := time.Now()
	c.compared.Store(&comparison{host, there.Sub(host.Round(0))}) // without its monotonic reading, which the database's has not
	return nil
}

// keep compares the clock until ctx ends. While the database is away, the last comparison stays.
func (c *Clock) keep(ctx context.Context, database *sql.DB) {
	for ticker := time.NewTicker(clockInterval); ; {
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
			_ = c.compare(ctx, database) // the next comparison comes in a minute
		}
	}
}

func (c *Clock) Now() time.Time {
	last := c.compared.Load()
	return last.host.Add(time.Since(last.host) + last.ahead)
}

// NowOrNil implements rivertype.TimeGenerator: statements take the database's time by themselves.
func (*Clock) NowOrNil() *time.Time { return nil }
