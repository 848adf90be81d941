package posts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
)

func TestUpdateKeepsWhatWasNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	made := graphtest.Got(w.create(author, posts.Fields{Text: ptr("one"), Title: ptr("first"), Kind: ptr("portfolio")}))(t)
	w.Shift(time.Hour)
	changed := graphtest.Got(w.update(author, made.ID, posts.Fields{Title: ptr(" second ")}))(t)
	require.Equal(t, "second", changed.Title)
	require.Equal(t, "one", changed.Text)
	require.Equal(t, "portfolio", changed.Kind)
	require.Equal(t, "private", changed.Visibility)
	require.Equal(t, made.CreatedAt, changed.CreatedAt)
	require.WithinDuration(t, made.UpdatedAt.Add(time.Hour), changed.UpdatedAt, time.Minute)

	changed, err := w.update(author, made.ID, posts.Fields{Text: ptr("two"), Title: ptr(""), Kind: ptr("update"), Visibility: ptr("public")})
	require.NoError(t, err)
	found := graphtest.Got(w.read(w.Agent(), made.ID))(t)
	require.Equal(t, changed, found)
	require.Empty(t, found.Title)
}

func TestOnlyTheAuthorChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, other := w.Agent(), w.Agent()
	made := w.Posted(author, "mine", "public")
	graphtest.Refused(t, fault.NotFound)(w.update(other, made.ID, posts.Fields{Text: ptr("yours")}))
	graphtest.Refused(t, fault.NotFound)(w.Posts.DeletePost(other.Ctx, posts.PostInput{PostID: made.ID.String()}))
	graphtest.Refused(t, fault.NotFound)(w.update(author, uuid.New(), posts.Fields{Text: ptr("none")}))
	graphtest.Refused(t, fault.InvalidID)(w.Posts.DeletePost(author.Ctx, posts.PostInput{PostID: "mine"}))
	graphtest.Refused(t, fault.InvalidID)(w.Posts.Post(author.Ctx, posts.PostInput{PostID: "mine"}))
}

// A closed profile hides a public post, but the post can be changed; only a request for a public post needs an open profile.
func TestHiddenPostCanBeEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	made := w.Posted(author, "one", "public")
	w.Show(author, false)
	graphtest.OK(t)(w.update(author, made.ID, posts.Fields{Text: ptr("two")}))
	_, err := w.update(author, made.ID, posts.Fields{Text: ptr("three"), Visibility: ptr("public")})
	graphtest.RequireFault(t, err, fault.InvalidVisibility)
	found := graphtest.Got(w.read(author, made.ID))(t)
	require.Equal(t, "two", found.Text)
}

func TestDeletedPostIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, other := w.Agent(), w.Agent()
	made := w.Posted(author, "one", "public")
	w.remove(author, made.ID)
	for _, reader := range []*graphtest.Agent{author, other} {
		graphtest.Refused(t, fault.NotFound)(w.read(reader, made.ID))
		ids, _ := w.feed(reader, "", "", "")
		require.Empty(t, ids)
	}
	graphtest.Refused(t, fault.NotFound)(w.update(author, made.ID, posts.Fields{Text: ptr("two")}))
	graphtest.Refused(t, fault.NotFound)(w.Posts.DeletePost(author.Ctx, posts.PostInput{PostID: made.ID.String()}))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM posts WHERE title = '' AND text = '' AND deleted_at IS NOT NULL"))
}
