package sample

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxCarried bounds the works in the program, in bytes.
const maxCarried = 350_000

// The works name only existing people and files, every file is used, and a chosen response asks for the price of its order.
func TestTheWorksAreComplete(t *testing.T) {
	t.Parallel()
	w := Load()
	people, used := map[string]bool{}, map[string]bool{"works.json": true}
	use := func(names ...string) {
		for _, name := range names {
			if name != "" {
				require.NotEmpty(t, file(name))
				used[name] = true
			}
		}
	}
	for _, p := range slices.Concat(w.People, w.Neighbours) {
		require.Regexp(t, `^[a-z][a-z0-9_]{2,26}$`, p.Handle, "a suffix fits behind it")
		require.False(t, people[p.Handle], p.Handle)
		people[p.Handle] = true
		require.NotEmpty(t, p.Services)
		use(p.Avatar, p.Character)
	}
	for _, p := range w.People {
		require.NotEmpty(t, p.Avatar, "a face")
	}
	orders := 0
	for _, m := range w.Hour {
		switch {
		case m.Post != nil:
			require.True(t, people[m.Post.Author], m.Post.Title)
			use(m.Post.Files...)
		case m.Task != nil:
			require.True(t, people[m.Task.Customer], m.Task.Title)
		default:
			o := m.Order
			orders++
			require.True(t, people[o.Customer] && people[o.Contractor] && o.Customer != o.Contractor, o.Title)
			use(o.ResultFiles...)
			require.Len(t, o.Ratings, 2)
			for _, r := range o.Ratings {
				require.Contains(t, []string{o.Customer, o.Contractor}, r.Author)
			}
			if o.Responses != nil {
				require.True(t, slices.ContainsFunc(o.Responses, func(r Response) bool { return r.Bot == o.Contractor && r.Amount == o.Amount }), o.Title)
			}
		}
	}
	require.Equal(t, 18, orders)
	total := 0
	entries, err := files.ReadDir("works")
	require.NoError(t, err)
	require.Len(t, used, len(entries))
	for _, e := range entries {
		require.True(t, used[e.Name()], e.Name())
		total += len(file(e.Name()))
	}
	require.Less(t, total, maxCarried)
}
