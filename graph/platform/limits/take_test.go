package limits_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func take(w *graphtest.World, quota int, subject string) error {
	return limits.Quotas{MutationsPerMinute: quota}.Take(context.Background(), w.DB.SQL, limits.Mutations, subject)
}

func TestQuotaOfZeroIsNoLimit(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 300 {
		require.NoError(t, take(w, 0, "a"))
	}
	require.EqualValues(t, 0, w.Count("SELECT count(*) FROM rate_windows"))
}

// Compared with a plain list of acts at any times: a refused subject has used its quota within the last span; no span without its
// last sixtieth holds more than the quota; waiting for the returned time always helps, and is never longer than a span.
func TestSlidingSpan(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	subject := 0
	rapid.Check(t, func(r *rapid.T) {
		subject++
		name := strconv.Itoa(subject)
		quota := rapid.IntRange(1, 6).Draw(r, "quota")
		var granted []time.Time
		within := func(at time.Time, span time.Duration) int {
			first := slices.IndexFunc(granted, func(g time.Time) bool { return at.Sub(g) < span })
			if first < 0 {
				return 0
			}
			return len(granted) - first
		}
		for range rapid.IntRange(1, 25).Draw(r, "acts") {
			w.Shift(time.Duration(rapid.IntRange(0, 40_000).Draw(r, "milliseconds")) * time.Millisecond)
			before := w.Now()
			err := take(w, quota, name)
			if err == nil {
				require.Less(r, within(w.Now(), 59*time.Second), quota)
				granted = append(granted, before)
				continue
			}
			require.GreaterOrEqual(r, within(before, time.Minute), quota, "a client that keeps to the quota was refused")
			wait := graphtest.RequireFault(r, err, fault.WriteLimited).Retry()
			require.LessOrEqual(r, wait, time.Minute)
			w.Shift(wait)
			at := w.Now()
			require.NoError(r, take(w, quota, name))
			granted = append(granted, at)
		}
	})
}

func TestTakeOnceCountsARequestOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	q := limits.Quotas{RegistrationsPerHour: 5}
	ctx, record := limits.WithRecord(context.Background())
	for range 3 {
		require.NoError(t, attempt(ctx, w, q, "a"))
	}
	require.Len(t, record.Taken(), 1)
	require.Equal(t, 4, record.Taken()[0].Remaining)
	require.NoError(t, q.Take(ctx, w.DB.SQL, limits.Registrations, ""))
	require.Equal(t, 3, record.Taken()[0].Remaining, "the newest state counts")
}

func attempt(ctx context.Context, w *graphtest.World, q limits.Quotas, subject string) error {
	return q.TakeOnce(ctx, w.DB, limits.RegistrationsPerAddress, subject, limits.Registrations)
}

// An act refused for the subject does not count for the server; an act refused for the server counts for the subject.
func TestTakeOnceCountsASubjectBeforeTheWhole(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	q := limits.Quotas{RegistrationsPerAddressPerHour: 2, RegistrationsPerHour: 3}
	for _, c := range []struct {
		subject string
		refused bool
		shown   []string
		left    []int
	}{
		{"a", false, []string{"registrations_per_address", "registrations"}, []int{1, 2}},
		{"a", false, []string{"registrations_per_address", "registrations"}, []int{0, 1}},
		{"a", true, []string{"registrations_per_address"}, []int{0}},
		{"b", false, []string{"registrations_per_address", "registrations"}, []int{1, 0}},
		{"b", true, []string{"registrations_per_address", "registrations"}, []int{0, 0}},
		{"b", true, []string{"registrations_per_address"}, []int{0}},
	} {
		ctx, record := limits.WithRecord(context.Background())
		err := attempt(ctx, w, q, c.subject)
		if c.refused {
			refused := graphtest.RequireFault(t, err, fault.RegistrationLimited)
			require.Positive(t, refused.Retry())
			require.Contains(t, refused.Text(), "Too many registrations. The limit "+c.shown[len(c.shown)-1]+" is ")
		} else {
			require.NoError(t, err)
		}
		var (
			shown []string
			left  []int
		)
		for i, taken := range record.Taken() {
			shown, left = append(shown, taken.Limit.Name), append(left, taken.Remaining)
			require.Equal(t, c.refused && i == len(c.shown)-1, !taken.Allowed)
			require.Equal(t, taken.Limit.Quota(q), taken.Quota)
		}
		require.Equal(t, c.shown, shown)
		require.Equal(t, c.left, left)
	}
	require.EqualValues(t, 3, w.Count("SELECT total FROM rate_windows WHERE name = 'registrations'"))
	require.NoError(t, attempt(context.Background(), w, limits.Quotas{}, "a"))
	require.NoError(t, attempt(context.Background(), w, limits.Quotas{RegistrationsPerAddressPerHour: 3}, "a"), "the other limit is off")
}

// Both limits hold if many requests from few addresses arrive at once.
func TestTakeOnceAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	q := limits.Quotas{RegistrationsPerAddressPerHour: 4, RegistrationsPerHour: 10}
	codes := graphtest.AtOnce(45, func(i int) error { return attempt(context.Background(), w, q, strconv.Itoa(i%3)) })
	require.Equal(t, 10, codes.Count()[""])
	for address := range 3 {
		allowed := 0
		for i := address; i < len(codes); i += 3 {
			if codes[i] == "" {
				allowed++
			}
		}
		require.LessOrEqual(t, allowed, 4)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	_, record := limits.WithRecord(t.Context())
	h := http.Header{}
	record.Headers(h)
	require.Empty(t, h)

	record.Add(limits.Taken{Limit: limits.Mutations, Quota: 120, Allowed: true, Remaining: 119, Reset: time.Minute})
	record.Add(limits.Taken{Limit: limits.Registrations, Quota: 100, Reset: 7 * time.Second})
	record.Headers(h)
	require.Equal(t, http.Header{
		"Ratelimit-Policy": {`"mutations";q=120;w=60, "registrations";q=100;w=3600`},
		"Ratelimit":        {`"mutations";r=119;t=60, "registrations";r=0;t=7`},
	}, h)
}
