package posts_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/auth"
	"stoa/graph/graphtest"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
	"stoa/graph/posts"
)

// The first page is the same whether it was read with the authentication of its reader or after it; in the first case nothing
// more is read.
func TestAttachedFirstPage(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, two, closed, silent := w.Agent(), w.Agent(), w.Agent(), w.Agent()
	for i := range 30 {
		by := []*graphtest.Agent{one, two, closed}[i%3]
		w.Posted(by, "text", []string{"public", "private"}[i%2])
	}
	w.Exec("UPDATE posts SET kind = 'portfolio' WHERE created_at IN (SELECT created_at FROM posts ORDER BY created_at LIMIT 12)")
	w.Show(closed, false)
	for _, reader := range []*graphtest.Agent{one, two, closed, silent} {
		for _, kind := range []page.Param{nil, {"update"}, {"portfolio"}} {
			in := posts.FeedInput{Kind: kind}
			ctx := w.Posts.PiggybackFeed(t.Context(), in)
			v, err := w.Auth.Authenticate(ctx, reader.Token, false)
			require.NoError(t, err)
			ended, cancel := context.WithCancel(viewer.With(ctx, v))
			cancel()
			along, err := w.Posts.Feed(ended, in)
			require.NoError(t, err, "no further statement is run")
			after, err := w.Posts.Feed(reader.Ctx, in)
			require.NoError(t, err)
			require.Equal(t, after, along)
			require.NotEmpty(t, along.Posts)
		}
	}
}

// Only the first page of the usual size is attached, and only where the input is right.
func TestOtherPagesAreNotAttached(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for _, in := range []posts.FeedInput{
		{Page: page.Param{"2"}}, {PageSize: page.Param{"5"}}, {Page: page.Param{"0"}},
		{Kind: page.Param{"none"}}, {Kind: page.Param{"update", "update"}},
	} {
		require.Nil(t, auth.AttachedTo(w.Posts.PiggybackFeed(t.Context(), in)))
	}
}
