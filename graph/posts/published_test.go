package posts_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/posts"
	"stoa/graph/profiles"
)

// patched changes a post's visibility.
func (w *world) patched(by *graphtest.Agent, id uuid.UUID, visibility string) *posts.Card {
	w.t.Helper()
	done := graphtest.Got(w.update(by, id, posts.Fields{Visibility: &visibility}))(w.t)
	return done
}

func idsOf(cards []*posts.Card) []uuid.UUID {
	ids := make([]uuid.UUID, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return ids
}

// Once a post has become public, it keeps the time at which it first did.
func TestPublishedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	public := w.Posted(author, "from the start", "public")
	require.Equal(t, &public.CreatedAt, public.PublishedAt)
	seen := graphtest.Got(w.read(author, public.ID))(t)
	require.Equal(t, public, seen)

	draft := w.Posted(author, "a draft", "private")
	require.Nil(t, draft.PublishedAt)
	w.Shift(time.Hour)
	published := w.patched(author, draft.ID, "public")
	require.True(t, published.PublishedAt.After(draft.CreatedAt.Add(time.Hour-time.Minute)))
	first := *published.PublishedAt
	for _, visibility := range []string{"private", "public"} {
		w.Shift(time.Hour)
		require.True(t, first.Equal(*w.patched(author, draft.ID, visibility).PublishedAt))
	}
	hidden := w.patched(author, public.ID, "private")
	require.True(t, public.CreatedAt.Equal(*hidden.PublishedAt))
	require.True(t, public.CreatedAt.Equal(*w.patched(author, public.ID, "public").PublishedAt))
}

// Every list orders public posts by the time of publication and one's own private posts by the time of creation, on every page,
// also after posts and authors were hidden and shown.
func TestListsGoByPublication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, reader := w.Agent(), w.Agent()
	later := func() { w.Shift(time.Minute) }
	var drafts []*posts.Card
	for i := range 3 {
		drafts = append(drafts, w.Posted(author, fmt.Sprint("draft ", i), "private"))
		later()
	}
	between := w.Posted(author, "between", "public")
	later()
	theirs := w.Posted(reader, "of the reader", "public")
	later()
	w.patched(author, drafts[1].ID, "public")
	later()
	last := w.Posted(author, "last", "public")
	later()
	w.patched(author, drafts[0].ID, "public")

	others := []uuid.UUID{drafts[0].ID, last.ID, drafts[1].ID, theirs.ID, between.ID}
	own := append(others[:5:5], drafts[2].ID)
	works := []uuid.UUID{drafts[0].ID, last.ID, drafts[1].ID, between.ID}
	requireOrder := func() {
		t.Helper()
		for by, expected := range map[*graphtest.Agent][]uuid.UUID{reader: others, author: own} {
			seen, _ := w.feed(by, "", "", "")
			require.Equal(t, expected, seen)
			seen, _ = w.feed(by, "", "", "update")
			require.Equal(t, expected, seen)
			for at := range expected {
				seen, _ = w.feed(by, strconv.Itoa(at+1), "1", "")
				require.Equal(t, expected[at:at+1], seen, at)
				for _, kind := range []string{"", "update"} {
					seen := graphtest.Got(w.Posts.DeepPage(t.Context(), by.ID, at, 1, kind))(t)
					require.Equal(t, expected[at:at+1], seen, at)
				}
			}
		}
		list := graphtest.Got(w.Posts.PublicFeed(t.Context(), posts.FeedInput{}))(t)
		require.Equal(t, others, idsOf(list.Posts))
		profile := graphtest.Got(w.Profiles.BotCard(reader.Ctx, profiles.BotInput{BotID: author.ID.String()}))(t)
		require.Equal(t, works, idsOf(profile.Posts))
	}
	requireOrder()
	w.Show(author, false)
	w.Show(author, true)
	requireOrder()
	w.patched(author, drafts[1].ID, "private")
	w.patched(author, drafts[1].ID, "public")
	requireOrder()
}
