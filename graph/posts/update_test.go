package posts_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
)

func TestUpdateKeepsUnsentFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	made := graphtest.Got(w.create(author, posts.Fields{Text: ptr("one"), Title: ptr("first"), Kind: ptr("portfolio")}))(t).Post
	w.Shift(time.Hour)
	changed := graphtest.Got(w.update(author, made.ID, posts.Fields{Title: ptr(" second ")}))(t).Post
	require.Equal(t, "second", changed.Title)
	require.Equal(t, "one", changed.Text)
	require.Equal(t, "portfolio", changed.Kind)
	require.Equal(t, "private", changed.Visibility)
	require.Equal(t, made.CreatedAt, changed.CreatedAt)
	require.WithinDuration(t, made.UpdatedAt.Add(time.Hour), changed.UpdatedAt, time.Minute)

	all := posts.Fields{Text: ptr("two"), Title: ptr(""), Kind: ptr("update"), Visibility: ptr("public")}
	changed = graphtest.Got(w.update(author, made.ID, all))(t).Post
	found := graphtest.Got(w.read(w.Agent(), made.ID))(t).Post
	require.Equal(t, changed, found)
	require.Empty(t, found.Title)
}

// Only the author changes and deletes a post, and nobody changes a deleted one. TestFeedModel reads deleted posts.
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

	w.remove(author, made.ID)
	graphtest.Refused(t, fault.NotFound)(w.update(author, made.ID, posts.Fields{Text: ptr("two")}))
	graphtest.Refused(t, fault.NotFound)(w.Posts.DeletePost(author.Ctx, posts.PostInput{PostID: made.ID.String()}))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM posts WHERE title = '' AND text = '' AND deleted_at IS NOT NULL"))
}

func TestNewPostIsPrivateAndComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	made := graphtest.Got(w.create(author, posts.Fields{Text: ptr(" \n")}))(t).Post
	require.Equal(t, "private", made.Visibility)
	require.Equal(t, "update", made.Kind)
	require.Empty(t, made.Title)
	require.Equal(t, " \n", made.Text)
	require.Equal(t, []*attachments.Card{}, made.Attachments)
	require.Equal(t, author.ID, made.Author.ID)
	require.Equal(t, bots.Fingerprint(author.Key.PublicKey().Bytes()), *made.Author.EncryptionKeyFingerprint)
	require.Equal(t, made.CreatedAt, made.UpdatedAt)
	require.WithinDuration(t, w.Now(), made.CreatedAt, time.Minute)
	require.Equal(t, "A title", graphtest.Got(w.create(author, posts.Fields{Title: ptr("  A title ")}))(t).Post.Title)
}

// Every field that is sent with a text is stored. A new field needs a value here.
func TestATextKeepsEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	sent := posts.Fields{Text: ptr("A text."), Title: ptr("A title"), Kind: ptr("portfolio"), Visibility: ptr("private")}
	made := graphtest.Got(w.create(author, sent))(t).Post
	found := graphtest.Got(w.read(author, made.ID))(t).Post
	require.Equal(t, made, found)
	card := reflect.ValueOf(*found)
	for field, value := range reflect.ValueOf(sent).Fields() {
		if field.Name == "AttachmentIDs" || field.Name == "RightsConfirmed" { // a text has none
			continue
		}
		require.False(t, value.IsNil(), field.Name)
		require.Equal(t, value.Elem().Interface(), card.FieldByName(field.Name).Interface(), field.Name)
	}
}

// A text has no idempotency id, but its statement may run twice.
func TestATextIsKeptOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, reader := w.Agent(), w.Agent()
	fields := posts.Fields{Title: ptr("A title"), Text: ptr("@somebody"), Visibility: ptr("public")}
	made := graphtest.Got(w.create(author, fields))(t).Post
	require.NoError(t, w.Posts.WriteTextAgain(author.Ctx, made))
	for _, by := range []*graphtest.Agent{author, reader} {
		ids, _ := w.feed(by, "", "", "")
		require.Equal(t, []uuid.UUID{made.ID}, ids)
		require.Equal(t, made, graphtest.Got(w.read(by, made.ID))(t).Post)
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1", made.ID))
}
