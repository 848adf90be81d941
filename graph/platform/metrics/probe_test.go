package metrics

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// value finds the value of a metric in a reading.
func (r reading) value(name string) (float64, bool) {
	for _, v := range r.values {
		if v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}

func TestAProbeReadsOnceAPeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		p := &probe{readers: []Reader{func(context.Context) ([]Value, error) {
			return []Value{{Name: "stoa_outbox_events", Value: float64(asked.Add(1))}}, nil
		}}}
		for range 3 {
			depth, ok := p.look().value("stoa_outbox_events")
			require.True(t, ok)
			require.InDelta(t, 1, depth, 0)
		}
		time.Sleep(probePeriod)
		depth, _ := p.look().value("stoa_outbox_events")
		require.InDelta(t, 2, depth, 0)
	})
}

func TestAProbeThatFailsShowsNothingOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		p := &probe{readers: []Reader{
			func(context.Context) ([]Value, error) { return []Value{{Name: "stoa_outbox_events", Value: 7}}, nil },
			func(context.Context) ([]Value, error) {
				if away.Load() {
					return nil, errors.New("away")
				}
				return nil, nil
			},
		}}
		require.False(t, p.look().failed)
		away.Store(true)
		time.Sleep(probePeriod)
		seen := p.look()
		require.True(t, seen.failed)
		require.Empty(t, seen.values)
		away.Store(false)
		time.Sleep(probePeriod)
		require.Len(t, p.look().values, 1)
	})
}

// A database that neither answers nor closes the connection does not delay a scrape for long, and is queried only once.
func TestAProbeThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		var asked atomic.Int64
		p := &probe{readers: []Reader{func(context.Context) ([]Value, error) {
			asked.Add(1)
			<-hung
			return []Value{{Name: "stoa_outbox_events", Value: 1}}, nil
		}}}
		for range 4 {
			began := time.Now()
			require.True(t, p.look().failed)
			require.Equal(t, probeTimeout, time.Since(began))
		}
		require.EqualValues(t, 1, asked.Load())
		close(hung)
		synctest.Wait()
		time.Sleep(probePeriod)
		require.False(t, p.look().failed)
	})
}
