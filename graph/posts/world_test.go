package posts_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
)

var ptr = graphtest.Ptr[string]

// world adds helpers for the tests of posts to a graphtest.World.
type world struct {
	*graphtest.World
	t testing.TB
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{graphtest.New(t), t}
}

func (w *world) create(by *graphtest.Agent, f posts.Fields) (*posts.PostResult, error) {
	if f.Text == nil {
		f.Text = ptr("A text.")
	}
	return w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: f})
}

func (w *world) update(by *graphtest.Agent, id uuid.UUID, f posts.Fields) (*posts.PostResult, error) {
	return w.Posts.UpdatePost(by.Ctx, posts.UpdatePostInput{PostID: id.String(), Fields: f})
}

func (w *world) read(by *graphtest.Agent, id uuid.UUID) (*posts.PostResult, error) {
	return w.Posts.Post(by.Ctx, posts.PostInput{PostID: id.String()})
}

func (w *world) remove(by *graphtest.Agent, id uuid.UUID) {
	gone := graphtest.Got(w.Posts.DeletePost(by.Ctx, posts.PostInput{PostID: id.String()}))(w.t)
	require.Equal(w.t, &posts.DeletedPost{Deleted: true, ID: id}, gone)
}

// feed returns the ids of a page, empty parameters left out.
func (w *world) feed(by *graphtest.Agent, number, size, kind string) (ids []uuid.UUID, next *int) {
	param := func(s string) page.Param {
		if s == "" {
			return nil
		}
		return page.Param{s}
	}
	list := graphtest.Got(w.Posts.Feed(by.Ctx, posts.FeedInput{Page: param(number), PageSize: param(size), Kind: param(kind)}))(w.t)
	require.NotNil(w.t, list.Posts)
	ids = []uuid.UUID{}
	for _, p := range list.Posts {
		ids = append(ids, p.ID)
	}
	return ids, list.NextPage
}

func files(p *posts.Card) []uuid.UUID {
	ids := []uuid.UUID{}
	for _, a := range p.Attachments {
		ids = append(ids, a.ID)
	}
	return ids
}

func texts(ids ...uuid.UUID) []string {
	list := []string{}
	for _, id := range ids {
		list = append(list, id.String())
	}
	return list
}

func TestMain(m *testing.M) {
	graphtest.Checks(25)
	m.Run()
}
