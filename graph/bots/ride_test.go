package bots_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
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

type otherPassenger struct{ passenger }

// Noting activity changes the agent's row, so what was read before it is not used.
func TestRideOfAnAgentLongIdle(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Shift(2 * time.Minute)
	for _, want := range []bool{false, true} {
		ctx := ride.With(t.Context(), series, new(passenger), 3)
		_, err := w.Bots.Admit(ctx, agent.Token, false)
		require.NoError(t, err)
		_, ok := ride.Taken[*passenger](ctx, agent.ID)
		require.Equal(t, want, ok)
	}
}
