package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// stage is a scene without a production.
func stage() *Scene {
	return &Scene{Bed: &testbed.Bed{Servers: []*testbed.Server{{Name: "server-1"}}}, Random: rand.New(rand.NewPCG(1, 1))}
}

// A fault that cannot be injected is undone and tried again.
func TestStrikeTriesAgain(t *testing.T) {
	t.Parallel()
	tried, undone := 0, 0
	f := Fault{Name: "shy", Strike: func(context.Context, *Scene) (string, Lift, error) {
		tried++
		lift := func(context.Context) error { undone++; return nil }
		if tried < 2 {
			return "", lift, injected(errors.New("busy"))
		}
		return "it", lift, nil
	}}
	one, err := strike(t.Context(), stage(), history.NewRecorder(1), f)
	require.NoError(t, err)
	require.Equal(t, "it", one.recorded.Target)
	require.Equal(t, 2, tried)
	require.Equal(t, 1, undone)
}

// A failure of the service does not count as a fault that could not be injected.
func TestStrikeDoesNotHideDefects(t *testing.T) {
	t.Parallel()
	tried := 0
	_, err := strike(t.Context(), stage(), history.NewRecorder(1), Fault{Strike: func(context.Context, *Scene) (string, Lift, error) {
		tried++
		return "", nil, errors.New("the server does not start")
	}})
	require.EqualError(t, err, "the server does not start")
	require.Equal(t, 1, tried)
}

// A fault without effect is reported as missed, and is no error.
func TestFaultsThatMetNothingAreMissed(t *testing.T) {
	t.Parallel()
	s, recorder := stage(), history.NewRecorder(1)
	one := &struck{recorded: history.Fault{Name: "idle"}, lift: func(context.Context) error { return errNoEffect }}
	one.liftInTime(t.Context(), s, recorder)
	require.NoError(t, one.failed)
	require.Equal(t, []string{"idle: it met nothing"}, s.Missed())
}

// Every pair of faults may meet, except a fault with itself, two of the database itself, and a restore with any.
func TestPairs(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"mail-slow", "servers-lost-mailing"}:   true,
		{"table-locked", "backend-killed"}:      true,
		{"network-slow", "network-torn"}:        true,
		{"mail-slow", "mail-slow"}:              false,
		{"database-full", "database-stopped"}:   false,
		{"primary-lost", "switchover"}:          false,
		{"restored", "mail-slow"}:               false,
		{"commits-late", "restored"}:            false,
		{"version-changed", "database-stopped"}: true,
	} {
		named := func(name string) Fault {
			return table[slices.IndexFunc(table, func(f Fault) bool { return f.Name == name })]
		}
		require.Equal(t, want, named(pair[0]).mayMeet(named(pair[1])), pair)
	}
}
