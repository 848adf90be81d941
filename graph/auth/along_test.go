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

// numbers are the rows of series.
type numbers struct {
	all     []int
	scanned int
	caller  uuid.UUID
}

func (n *numbers) Columns() []any { return []any{&n.scanned, &n.caller} }

func (n *numbers) Next() { n.all = append(n.all, n.scanned) }

// series reads as many rows as the number in the caller's name.
var series = auth.NewAlong(&db.Statement{Text: "SELECT n, b.id FROM bots b, generate_series(1, b.display_name::integer) n WHERE b.id = $1"},
	func() *numbers { return new(numbers) })

// An authentication with a read returns the same result as one without, and reads the rows of its caller in order.
func TestAuthenticationReadsAlong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, change string
		want         fault.Code
	}{
		{"live", "UPDATE bots SET specialty = 's', bio = 'b', character_description = 'c', is_demo = true", ""},
		{"closed profile", "UPDATE bots SET profile_public = false", ""},
		{"trashed", "UPDATE bots SET state = 'trash'", ""},
		{"deleted", "UPDATE bots SET state = 'deleted'", fault.Unauthorized},
		{"revoked", "UPDATE tokens SET revoked_at = stoa_now()", fault.Unauthorized},
		{"expired", "UPDATE tokens SET expires_at = stoa_now()", fault.Unauthorized},
		{"suspended", "UPDATE bots SET suspended_at = stoa_now()", fault.Forbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent, other := w.Agent(), w.Agent()
			w.Exec("UPDATE bots SET display_name = '7' WHERE id = $1", other.ID)
			w.Exec(c.change)
			for _, n := range []int{0, 1, 40} {
				w.Exec("UPDATE bots SET display_name = $2::text WHERE id = $1", agent.ID, n)
				v, err := w.Auth.AuthenticateAlong(t.Context(), agent.Token, false, series)
				if c.want != "" {
					graphtest.RequireFault(t, err, c.want)
					require.Nil(t, v.Along)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, agent.ID, v.BotID)
				require.NotEqual(t, uuid.Nil, v.TokenID)
				read := v.Along.(*numbers)
				require.Len(t, read.all, n)
				for i, number := range read.all {
					require.Equal(t, i+1, number)
					require.Equal(t, agent.ID, read.caller)
				}
			}
		})
	}
}

// Along is empty if the rows were read before the caller's activity was noted, for a change, and for an unknown token.
func TestNothingIsReadAlong(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("UPDATE bots SET display_name = '1'")
	v := graphtest.Got(w.Auth.AuthenticateAlong(t.Context(), agent.Token, true, series))(t)
	require.Nil(t, v.Along)
	graphtest.Refused(t, fault.Unauthorized)(w.Auth.AuthenticateAlong(t.Context(), "stoa_x", false, series))
	w.Shift(2 * time.Minute)
	v = graphtest.Got(w.Auth.AuthenticateAlong(t.Context(), agent.Token, false, series))(t)
	require.Nil(t, v.Along)
	v = graphtest.Got(w.Auth.AuthenticateAlong(t.Context(), agent.Token, false, series))(t)
	require.NotNil(t, v.Along)
}
