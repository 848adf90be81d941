package selftest

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/report"
)

// Results are kept. A bug with a result is not tried again. The page lists the bugs that were found and missed.
func TestResultsAreKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "results.json")
	r, err := Load(file)
	require.NoError(t, err)
	for _, result := range []Result{
		{}, {Bug: catalogue[0].Name, By: "orders", After: 12 * time.Second, Violation: "it is wrong", Version: "0.2.0"},
		{Bug: catalogue[1].Name, NotTried: "no right"}, {Bug: catalogue[2].Name},
	} {
		r[result.Bug] = result
	}
	require.NoError(t, r.Keep(file))
	again, err := Load(file)
	require.NoError(t, err)
	require.Equal(t, r, again)
	require.Equal(t, catalogue[1], again.Untried(catalogue)[0], "it has no result")
	require.Equal(t, catalogue[3:], again.Untried(catalogue)[1:])
	made := new(report.Result)
	again.Fill(made)
	page, err := made.Page()
	require.NoError(t, err)
	require.Contains(t, page, "**1 of 2 bugs were found**, "+strconv.Itoa(len(catalogue)-2)+" of")
	require.Contains(t, page, catalogue[0].Promise+" | orders | 12.0 s | 0.2.0 |")
	require.Contains(t, page, catalogue[1].Promise+" | no result: no right | 0.0 s |  |")
	require.Contains(t, page, catalogue[2].Promise+" | missed | 0.0 s |  |")
}

// A self-test fails if it finds too few bugs, or anything in the server without a bug. A proof without a result is no result.
func TestResultsAreJudged(t *testing.T) {
	t.Parallel()
	r := Results{"": {}}
	for _, result := range []Result{{Bug: catalogue[0].Name, By: "orders"}, {Bug: catalogue[1].Name, NotTried: "no right"}, {Bug: catalogue[2].Name}} {
		r[result.Bug] = result
	}
	require.NoError(t, r.Judge(1))
	err := r.Judge(2)
	require.ErrorIs(t, err, ErrMissed)
	require.ErrorContains(t, err, "missed: "+catalogue[2].Name)
	require.NotContains(t, err.Error(), catalogue[1].Name)
	r[""] = Result{By: "orders", Violation: "it is wrong"}
	require.ErrorIs(t, r.Judge(0), ErrUnsound)
	r[""] = Result{NotTried: "no right"}
	require.ErrorIs(t, r.Judge(1), ErrUntried)
	require.False(t, r.Tried(""))
}

// Each row is in one of the shares, and rows are chosen by their names.
func TestRowsAreChosen(t *testing.T) {
	t.Parallel()
	var all []Row
	for _, text := range []string{"1/3", "2/3", "3/3"} {
		var s Share
		require.NoError(t, s.UnmarshalText([]byte(text)))
		require.Equal(t, text, s.String())
		all = append(all, s.Rows(catalogue)...)
	}
	require.ElementsMatch(t, catalogue, all)
	for _, text := range []string{"", "1", "0/3", "4/3", "1/x", "-1/3", "1/3/3"} {
		require.Error(t, new(Share).UnmarshalText([]byte(text)), text)
	}
	two, err := Select(catalogue[4].Name + "," + catalogue[1].Name)
	require.NoError(t, err)
	require.Equal(t, []Row{catalogue[1], catalogue[4]}, two)
	_, err = Select("none-of-them")
	require.ErrorIs(t, err, ErrUnknown)
}
