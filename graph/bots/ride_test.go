package bots_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/fault"
	"stoa/graph/graphtest"
	"stoa/graph/limits"
	"stoa/graph/ride"
)

// series rides: so many rows, each with its number and the caller.
var series = ride.New(`SELECT n, me.id FROM generate_series(1, $2::integer) n`, 2)

type numbered struct {
	n  int
	of uuid.UUID
}

type passenger struct{ rows []*numbered }

func (p *passenger) Next(row []any) {
	r := new(numbered)
	p.rows = append(p.rows, r)
	row[0], row[1] = &r.n, &r.of
}

// An admission that a query rides on admits whom any other does, and reads the rows in their order for whom it admits.
func TestAdmissionWithRide(t *testing.T) {
	t.Parallel()
	for name, c := range callers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent := w.Agent()
			w.Exec(c.change)
			for _, n := range []int{0, 1, 40} {
				rows := new(passenger)
				ctx := ride.With(t.Context(), series, rows, n)
				v, err := w.Bots.Admit(ctx, agent.Token, false)
				if c.want != "" {
					graphtest.RequireFault(t, err, c.want)
					require.Empty(t, rows.rows)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
				require.NotEqual(t, uuid.Nil, v.TokenID)
				taken, ok := ride.Taken[*passenger](ctx, agent.ID)
				require.True(t, ok)
				require.Len(t, taken.rows, n)
				for i, r := range taken.rows {
					require.Equal(t, numbered{i + 1, agent.ID}, *r)
				}
			}
		})
	}
}

// What was read for one agent is nobody else's, what no admission read is nobody's, and a change never reads along.
func TestRideIsItsCallersAlone(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent, other := w.Agent(), w.Agent()
	ctx := ride.With(t.Context(), series, new(passenger), 3)
	_, err := w.Bots.Admit(ctx, agent.Token, false)
	require.NoError(t, err)
	_, ok := ride.Taken[*passenger](ctx, other.ID)
	require.False(t, ok)
	_, ok = ride.Taken[*otherPassenger](ctx, agent.ID)
	require.False(t, ok)

	for name, token := range map[string]string{"a change": agent.Token, "a stranger": "stoa_x"} {
		ctx := ride.With(t.Context(), series, new(passenger), 3)
		_, _ = w.Bots.Admit(ctx, token, true)
		for _, id := range []uuid.UUID{agent.ID, uuid.Nil} {
			_, ok := ride.Taken[*passenger](ctx, id)
			require.False(t, ok, name)
		}
	}
	_, ok = ride.Taken[*passenger](t.Context(), agent.ID)
	require.False(t, ok)
}

// counting rides on changes: it takes one of its caller's twenty, and fails where it is asked to.
var counting = ride.NewChange(`SELECT t.remaining / (20 - t.remaining - $3::integer), me.id FROM stoa_take('probe', me.id::text, 20, interval '1 minute') t`, 2)

// A change that rides on an admission is done for whom any other change is admitted, once, together with its count or not at all.
func TestAdmissionWithChange(t *testing.T) {
	t.Parallel()
	for name, c := range callers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 2}))
			agent := w.Agent()
			w.Exec(c.change)
			total := func(limit string) int64 {
				return w.Count("SELECT coalesce(sum(total), 0)::bigint FROM rate_windows WHERE name = $1", limit)
			}
			rows := new(passenger)
			_, err := w.Bots.Admit(ride.With(t.Context(), counting, rows, 1), agent.Token, true)
			if c.want != "" {
				graphtest.RequireFault(t, err, c.want)
				require.Zero(t, total("probe")+total("mutations"))
				return
			}
			require.ErrorContains(t, err, "division by zero")
			require.Zero(t, total("probe")+total("mutations"))

			for n := range int64(2) {
				rows = new(passenger)
				v, err := w.Bots.Admit(ride.With(t.Context(), counting, rows, 0), agent.Token, true)
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
				require.Equal(t, n+1, total("probe"))
				require.Equal(t, n+1, total("mutations"))
				require.Len(t, rows.rows, 1)
				require.Equal(t, agent.ID, rows.rows[0].of)
			}
			_, err = w.Bots.Admit(ride.With(t.Context(), counting, new(passenger), 0), agent.Token, true)
			graphtest.RequireFault(t, err, fault.WriteLimited)
			require.EqualValues(t, 2, total("probe"))

			_, err = w.Bots.Admit(ride.With(t.Context(), counting, new(passenger), 0), agent.Token, false)
			require.NoError(t, err)
			require.EqualValues(t, 2, total("probe"), "a request that only reads changes nothing")
		})
	}
}

type otherPassenger struct{ passenger }

// Noting that an agent is active again takes nothing from its ride.
func TestRideOfAnAgentLongIdle(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Shift(2 * time.Minute)
	ctx := ride.With(t.Context(), series, new(passenger), 3)
	_, err := w.Bots.Admit(ctx, agent.Token, false)
	require.NoError(t, err)
	taken, ok := ride.Taken[*passenger](ctx, agent.ID)
	require.True(t, ok)
	require.Len(t, taken.rows, 3)
}
