package auth_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/auth"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// callers are changes of an agent, each with the fault that refuses its requests afterwards, if any.
var callers = map[string]struct {
	change string
	want   fault.Code
}{
	"live":           {"UPDATE bots SET specialty = 's', bio = 'b', character_description = 'c', is_demo = true", ""},
	"closed profile": {"UPDATE bots SET profile_public = false", ""},
	"trashed":        {"UPDATE bots SET state = 'trash'", ""},
	"deleted":        {"UPDATE bots SET state = 'deleted'", fault.Unauthorized},
	"revoked":        {"UPDATE tokens SET revoked_at = stoa_now()", fault.Unauthorized},
	"expired":        {"UPDATE tokens SET expires_at = stoa_now()", fault.Unauthorized},
	"suspended":      {"UPDATE bots SET suspended_at = stoa_now()", fault.Forbidden},
}

// series selects a number of rows, each with its number and the caller.
var series = auth.NewQuery(&db.Statement{Text: `SELECT n, $1::uuid FROM generate_series(1, $2::integer) n`}, 2)

type numbered struct {
	n  int
	of uuid.UUID
}

type sink struct{ rows []*numbered }

func (p *sink) Next(row []any) {
	r := new(numbered)
	p.rows = append(p.rows, r)
	row[0], row[1] = &r.n, &r.of
}

// An authentication with an attached query decides as any other does, and reads the rows in their order.
func TestAuthenticationWithAttachedQuery(t *testing.T) {
	t.Parallel()
	for name, c := range callers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent := w.Agent()
			w.Exec(c.change)
			for _, n := range []int{0, 1, 40} {
				rows := new(sink)
				ctx := auth.Attach(t.Context(), series, rows, n)
				v, err := w.Auth.Authenticate(ctx, agent.Token, false)
				if c.want != "" {
					graphtest.RequireFault(t, err, c.want)
					require.Empty(t, rows.rows)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
				require.NotEqual(t, uuid.Nil, v.TokenID)
				taken, ok := auth.ResultFrom[*sink](ctx, agent.ID)
				require.True(t, ok)
				require.Len(t, taken.rows, n)
				for i, r := range taken.rows {
					require.Equal(t, numbered{i + 1, agent.ID}, *r)
				}
			}
		})
	}
}

// names selects the caller's name and what a join adds to it.
var names = auth.NewColumns("b.display_name, n.number", "CROSS JOIN (SELECT 7 AS number) n", 2)

type named struct {
	name   string
	number int
	rows   int
}

func (p *named) Next(row []any) {
	p.rows++
	row[0], row[1] = &p.name, &p.number
}

// The same holds for further columns of the caller's row.
func TestAuthenticationWithAttachedColumns(t *testing.T) {
	t.Parallel()
	for name, c := range callers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent := w.Agent()
			w.Exec(c.change)
			row := new(named)
			ctx := auth.Attach(t.Context(), names, row)
			v, err := w.Auth.Authenticate(ctx, agent.Token, false)
			if c.want != "" {
				graphtest.RequireFault(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, agent.ID, v.BotID)
			taken, ok := auth.ResultFrom[*named](ctx, agent.ID)
			require.True(t, ok)
			require.Equal(t, named{"Agent", 7, 1}, *taken)
		})
	}
}

// Rows that were read for one agent are not given to another, or to anyone whom the token does not authenticate.
func TestResultsBelongToTheirCaller(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent, other := w.Agent(), w.Agent()
	ctx := auth.Attach(t.Context(), series, new(sink), 3)
	_, err := w.Auth.Authenticate(ctx, agent.Token, false)
	require.NoError(t, err)
	_, ok := auth.ResultFrom[*sink](ctx, other.ID)
	require.False(t, ok)
	_, ok = auth.ResultFrom[*otherSink](ctx, agent.ID)
	require.False(t, ok)

	ctx = auth.Attach(t.Context(), series, new(sink), 3)
	_, err = w.Auth.Authenticate(ctx, "stoa_x", false)
	graphtest.RequireFault(t, err, fault.Unauthorized)
	for _, id := range []uuid.UUID{agent.ID, uuid.Nil} {
		_, ok := auth.ResultFrom[*sink](ctx, id)
		require.False(t, ok)
	}
	_, ok = auth.ResultFrom[*sink](t.Context(), agent.ID)
	require.False(t, ok)
}

type otherSink struct{ sink }

// Noting activity changes the agent's row, so what was read before it is not used.
func TestResultsAreDiscardedWhenActivityIsNoted(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Shift(2 * time.Minute)
	for _, want := range []bool{false, true} {
		ctx := auth.Attach(t.Context(), series, new(sink), 3)
		_, err := w.Auth.Authenticate(ctx, agent.Token, false)
		require.NoError(t, err)
		_, ok := auth.ResultFrom[*sink](ctx, agent.ID)
		require.Equal(t, want, ok)
	}
}
