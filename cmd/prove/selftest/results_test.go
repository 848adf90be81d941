package selftest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Results are kept. A row with a result is not tried again. The page lists the bugs that were found and missed.
func TestResultsAreKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "results.json")
	r := &Report{Without: &Result{}}
	require.NoError(t, r.Load(file))
	r.Add(Result{Bug: catalogue[2], NotTried: "the first time"})
	r.Add(Result{Bug: catalogue[2]})
	r.Add(Result{
		Bug: catalogue[0], By: "orders", After: 12 * time.Second, Violation: "it is wrong", Version: "0.2.0",
	})
	r.Add(Result{Bug: catalogue[1], NotTried: "no right"})
	require.NoError(t, r.Keep(file))
	again := new(Report)
	require.NoError(t, again.Load(file))
	require.Equal(t, r, again)
	require.Equal(t, catalogue[1], again.Untried(catalogue)[0], "it has no result")
	require.Equal(t, catalogue[3:], again.Untried(catalogue)[1:])
	require.Equal(t, 1, again.Found())
	again.Fill()
	page, err := again.Page()
	require.NoError(t, err)
	require.Contains(t, page, "**1 of 3 bugs were found.** In the server without a bug nothing was found.")
	require.Contains(t, page, catalogue[0].Promise+" | orders | 12.0 s | 0.2.0 |")
	require.Contains(t, page, catalogue[1].Promise+" | no result: no right | 0.0 s |  |")
	require.Contains(t, page, catalogue[2].Promise+" | missed | 0.0 s |  |")
}

// Each row is in one of the shares.
func TestShares(t *testing.T) {
	t.Parallel()
	var all []Row
	for _, text := range []string{"1/3", "2/3", "3/3"} {
		var s Share
		require.NoError(t, s.UnmarshalText([]byte(text)))
		rows := s.Rows(catalogue)
		require.InDelta(t, len(catalogue)/3, len(rows), 1)
		all = append(all, rows...)
	}
	require.ElementsMatch(t, catalogue, all)
	for _, text := range []string{"", "1", "0/3", "4/3", "1/x", "-1/3", "1/3/3"} {
		require.Error(t, new(Share).UnmarshalText([]byte(text)), text)
	}
}

// Rows are chosen by their names.
func TestSelect(t *testing.T) {
	t.Parallel()
	all, err := Select("all")
	require.NoError(t, err)
	require.Equal(t, catalogue, all)
	two, err := Select(catalogue[4].Name + "," + catalogue[1].Name)
	require.NoError(t, err)
	require.Equal(t, []Row{catalogue[1], catalogue[4]}, two)
	_, err = Select("none-of-them")
	require.ErrorIs(t, err, ErrUnknown)
}
