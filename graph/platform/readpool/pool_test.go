package readpool

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// stay holds a slot for a second and records its caller's name when it gets the slot.
func stay(p *Pool, name string, served chan<- string) error {
	here, err := p.enter(context.Background(), name)
	if err != nil {
		return err
	}
	served <- name
	time.Sleep(time.Second)
	here.leave()
	return nil
}

// A caller with many requests delays a caller with a single request by one turn.
func TestManyRequestsDoNotStarveAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{})
		served := make(chan string, Connections+perCaller+1)
		for range Connections + perCaller {
			go func() { _ = stay(p, "many", served) }()
		}
		synctest.Wait()
		require.Len(t, served, Connections)
		require.Equal(t, perCaller, p.waiting)
		began := time.Now()
		require.NoError(t, stay(p, "single", served))
		require.LessOrEqual(t, time.Since(began), 3*time.Second, "two turns of others and its own")
		time.Sleep(longestWait + slack.Of(10*time.Second))
		synctest.Wait()
		require.Empty(t, p.callers)
		require.Zero(t, p.waiting)
	})
}

func TestFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{})
		served := make(chan string, 2*total)
		for range Connections + perCaller {
			go func() { _ = stay(p, "one", served) }()
		}
		synctest.Wait()
		_, err := p.enter(t.Context(), "one")
		require.Equal(t, fault.RateLimited, fault.From(err).Code)
		for n := range total - perCaller {
			go func() { _ = stay(p, fmt.Sprint(n), served) }()
		}
		synctest.Wait()
		_, err = p.enter(t.Context(), "another")
		require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code)
		time.Sleep(longestWait + slack.Of(10*time.Second))
		synctest.Wait()
		require.Empty(t, p.callers)
		require.Zero(t, p.waiting)
	})
}

// A request that waits too long or gives up leaves the queue and holds no slot.
func TestWaitsThatEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{})
		var held []func()
		for range Connections {
			here, err := p.enter(t.Context(), "holder")
			require.NoError(t, err)
			held = append(held, here.leave)
		}
		gone, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := p.enter(gone, "gone")
		require.ErrorIs(t, err, context.Canceled)
		began := time.Now()
		_, err = p.enter(t.Context(), "patient")
		require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code)
		require.Equal(t, longestWait, time.Since(began))
		for _, leave := range held {
			leave()
		}
		require.Empty(t, p.callers)
		var count atomic.Int64
		for range 3 * Connections {
			go func() {
				here, err := p.enter(context.Background(), "holder")
				if err == nil {
					count.Add(1)
					time.Sleep(time.Second)
					here.leave()
				}
			}()
		}
		synctest.Wait()
		require.EqualValues(t, Connections, count.Load(), "no slot is lost or used twice")
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 3*Connections, count.Load())
	})
}

// Slow searches hold no slot, however many there are: another search is served at once, and a slow page does not wait for them.
// They run one at a time, and none waits forever.
func TestLongSearchesDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{})
		var done, late atomic.Int64
		for n := range 8 {
			go func() {
				here, err := p.enter(context.Background(), fmt.Sprint(n))
				if err != nil {
					return
				}
				defer here.leave()
				time.Sleep(soon)
				if err := here.lengthen(context.Background(), true); err != nil {
					late.Add(1)
					return
				}
				time.Sleep(StatementTimeout)
				done.Add(1)
			}()
		}
		time.Sleep(4*soon + time.Millisecond)
		began := time.Now()
		require.NoError(t, stay(p, "quick", make(chan string, 1)))
		require.Equal(t, time.Second, time.Since(began))
		page, err := p.enter(context.Background(), "page")
		require.NoError(t, err)
		began = time.Now()
		require.NoError(t, page.lengthen(context.Background(), false))
		require.Zero(t, time.Since(began))
		page.leave()
		time.Sleep(longestWait + slack.Of(10*time.Second))
		synctest.Wait()
		require.EqualValues(t, 8, done.Load()+late.Load())
		require.Positive(t, late.Load())
		require.GreaterOrEqual(t, done.Load(), int64(3))
		require.Empty(t, p.callers)
		require.True(t, p.slots.TryAcquire(Connections), "no slot is lost")
		require.True(t, p.longSearch.TryAcquire(1) && p.longRead.TryAcquire(1))
	})
}
