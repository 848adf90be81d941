package readpool

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hasSlot reports whether a request was served.
func (r *request) hasSlot() bool {
	select {
	case <-r.served:
		return true
	default:
		return false
	}
}

// A caller with 64 requests delays one with a single request by one turn.
func TestManyRequestsDoNotStarveAnother(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 100, 1000)
	_, state := q.join("many")
	require.Equal(t, served, state)
	first, _ := q.join("many")
	for range 62 {
		_, state := q.join("many")
		require.Equal(t, served, state)
	}
	single, _ := q.join("single")
	q.leave()
	require.True(t, first.hasSlot(), "it came first")
	require.False(t, single.hasSlot())
	q.leave()
	require.True(t, single.hasSlot())
}

func TestFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 2, 3)
	for i, want := range []struct {
		caller string
		state  outcome
	}{{"a", served}, {"a", served}, {"a", served}, {"a", callerFull}, {"b", served}, {"b", full}, {"c", full}} {
		_, state := q.join(want.caller)
		require.Equal(t, want.state, state, i)
	}
	require.Equal(t, 3, q.waits())
}

func TestACallerThatGivesUpLeavesTheQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 10, 10)
	require.Equal(t, served, q.enter(t.Context(), "a"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, cancelled, q.enter(ended, "b"))
	require.Zero(t, q.waits())
	q.leave()
	require.Equal(t, served, q.enter(t.Context(), "c"), "the slot is free again")
}

// In any order of requests, ends and cancellations: no slot is lost or used twice, each caller is served in the order of its
// requests, and no caller is served twice while another waits.
func TestQueueIsFair(t *testing.T) {
	t.Parallel()
	type waiter struct {
		caller  string
		request *request
	}
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.IntRange(1, 3).Draw(rt, "slots")
		q := newQueue(slots, rapid.IntRange(1, 4).Draw(rt, "per caller"), rapid.IntRange(1, 9).Draw(rt, "total"))
		held := 0
		var waiting []waiter
		// overtakes counts, for each waiting caller, how often each other one was served since it was last.
		overtakes := map[string]map[string]int{}
		has := func(caller string) bool {
			return slices.ContainsFunc(waiting, func(w waiter) bool { return w.caller == caller })
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch step := rapid.IntRange(0, 4).Draw(rt, "step"); {
			case step < 3:
				caller := fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "caller"))
				mine, state := q.join(caller)
				switch {
				case mine != nil:
					require.Equal(rt, slots, held, "it waits only while no slot is free")
					if !has(caller) {
						overtakes[caller] = map[string]int{}
					}
					waiting = append(waiting, waiter{caller, mine})
				case state == served:
					held++
					require.LessOrEqual(rt, held, slots)
				}
			case step == 3 && held > 0:
				q.leave()
				held--
				i := slices.IndexFunc(waiting, func(w waiter) bool { return w.request.hasSlot() })
				if i < 0 {
					require.Empty(rt, waiting, "a slot is given to those who wait")
					continue
				}
				next := waiting[i]
				require.Equal(rt, i, slices.IndexFunc(waiting, func(w waiter) bool { return w.caller == next.caller }), "in the order of arrival")
				waiting = slices.Delete(waiting, i, i+1)
				held++
				overtakes[next.caller] = map[string]int{}
				for other, by := range overtakes {
					if other != next.caller && has(other) {
						by[next.caller]++
						require.LessOrEqual(rt, by[next.caller], 1, "nobody is served twice while another waits")
					}
				}
			case step == 4 && len(waiting) > 0:
				i := rapid.IntRange(0, len(waiting)-1).Draw(rt, "gives up")
				require.True(rt, q.withdraw(waiting[i].caller, waiting[i].request))
				require.False(rt, q.withdraw(waiting[i].caller, waiting[i].request))
				waiting = slices.Delete(waiting, i, i+1)
			}
			require.Equal(rt, len(waiting), q.waits())
		}
	})
}
