package sample

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxCarried bounds the works in the program, in bytes.
const maxCarried = 350_000

// The works are whole: they name only people and files that are there, every file is used, and every moment comes once.
func TestTheWorksAreWhole(t *testing.T) {
	t.Parallel()
	w := Load()
	people, used := map[string]bool{}, map[string]bool{"works.json": true}
	for _, p := range slices.Concat(w.People, w.Neighbours) {
		require.Regexp(t, `^[a-z][a-z0-9_]{2,26}$`, p.Handle, "a suffix fits behind it")
		require.False(t, people[p.Handle], p.Handle)
		people[p.Handle] = true
		require.NotEmpty(t, p.Services)
		for _, names := range w.filesOf(p) {
			for _, name := range names {
				require.NotEmpty(t, file(name))
				used[name] = true
			}
		}
	}
	for _, p := range w.People {
		require.NotEmpty(t, p.Avatar, "a face")
	}
	carried, total := 0, 0
	entries, err := files.ReadDir("works")
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, used[e.Name()], e.Name())
		carried++
		total += len(file(e.Name()))
	}
	require.Len(t, used, carried)
	require.Less(t, total, maxCarried)

	require.Len(t, w.Orders, 18)
	for _, o := range w.Orders {
		require.True(t, people[o.Customer] && people[o.Contractor] && o.Customer != o.Contractor, o.Title)
		require.Len(t, o.Ratings, 2)
		for _, r := range o.Ratings {
			require.Contains(t, []string{o.Customer, o.Contractor}, r.Author)
		}
		if o.FromTask {
			require.Equal(t, o.Amount, w.task(o).Amount, "the response that was chosen asks for the order's price")
		}
	}
	orders, posts := 0, 0
	for _, m := range w.Moments() {
		if m.Post != nil {
			require.GreaterOrEqual(t, orders, m.Post.After)
			posts++
			continue
		}
		require.Equal(t, w.Orders[orders].Title, m.Order.Title)
		orders++
	}
	require.Equal(t, len(w.Orders), orders)
	require.Equal(t, len(w.Posts), posts)
}
