package prepared_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

const (
	setting = "SELECT coalesce(current_setting('" + prepared.ClockSetting + "', true), 'unset')"
	shifted = "SELECT extract(epoch FROM coalesce(current_setting('" + prepared.ClockSetting + "', true), '0')::interval) = $1::numeric"
)

func TestClockShiftReachesEverySession(t *testing.T) {
	t.Parallel()
	var clock prepared.Clock
	db := setup(t).open(t, 2, prepared.WithClock(&clock))
	require.Equal(t, "unset", one[string](t, db, setting))

	for _, c := range []struct {
		shift   time.Duration
		text    string
		seconds string
	}{
		{24 * time.Hour, "86400 s", "86400"},
		{-time.Minute, "-60 s", "-60"},
		{1500 * time.Millisecond, "1.500000 s", "1.5"},
		{-1500 * time.Microsecond, "-0.001500 s", "-0.0015"},
		{time.Microsecond + 999, "0.000001 s", "0.000001"},
		{200 * 365 * 24 * time.Hour, "6307200000 s", "6307200000"},
		{0, "0 s", "0"},
	} {
		clock.Set(c.shift)
		require.Equal(t, c.shift.Truncate(time.Microsecond), clock.Shift())
		first, err := db.Conn(t.Context())
		require.NoError(t, err)
		second, err := db.Conn(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.text, one[string](t, first, setting), "a used connection")
		require.Equal(t, c.text, one[string](t, second, setting), "another")
		require.True(t, one[bool](t, first, shifted, c.seconds), c.text)
		require.NoError(t, first.Close())
		require.NoError(t, second.Close())
	}
}

func TestClockShiftReachesANewConnection(t *testing.T) {
	t.Parallel()
	var clock prepared.Clock
	clock.Set(time.Hour)
	db := setup(t).open(t, 1, prepared.WithClock(&clock))

	require.Equal(t, "3600 s", one[string](t, db, setting))
	require.Equal(t, "3600 s", one[string](t, db, setting))
}

func TestTransactionKeepsItsClock(t *testing.T) {
	t.Parallel()
	var clock prepared.Clock
	db := setup(t).open(t, 1, prepared.WithClock(&clock))
	clock.Set(time.Hour)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	clock.Set(2 * time.Hour)
	require.Equal(t, "3600 s", one[string](t, tx, setting))
	require.NoError(t, tx.Rollback())

	require.Equal(t, "7200 s", one[string](t, db, setting), "the rollback takes nothing back")
}

// A connection on which the clock cannot be set is not handed out.
func TestClockIsSetOrTheConnectionGoes(t *testing.T) {
	t.Parallel()
	var clock prepared.Clock
	w := setup(t)
	db := w.open(t, 1, prepared.WithClock(&clock))
	backend := one[int](t, db, pid)
	clock.Set(time.Hour)
	terminate(t, w, backend)

	require.Equal(t, "3600 s", one[string](t, db, setting))
	require.NotEqual(t, backend, one[int](t, db, pid))
}
