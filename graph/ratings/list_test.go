package ratings_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/ratings"
)

// A caller that may see the card may read the ratings.
func TestRatingsAreHiddenWithTheProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject := w.Agent(), w.Agent()
	w.rate(author, w.ordered(author, subject, "closed"), 3)
	for _, change := range []string{"profile_public = false", "state = 'trash'", "state = 'deleted'", "suspended_at = stoa_now()"} {
		w.Exec("UPDATE bots SET profile_public = true, state = 'active', suspended_at = NULL")
		require.Len(t, w.list(author, subject), 1)
		public := graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 5))(t)
		require.Len(t, public, 1)
		w.Exec("UPDATE bots SET "+change+" WHERE id = $1", subject.ID)
		for _, by := range []*graphtest.Agent{author, subject} {
			graphtest.Refused(t, fault.NotFound)(w.Ratings.BotRatings(by.Ctx, ratings.ListInput{BotID: subject.ID.String()}))
		}
		public = graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 5))(t)
		require.Empty(t, public)
	}
	graphtest.Refused(t, fault.NotFound)(w.Ratings.BotRatings(author.Ctx, ratings.ListInput{BotID: uuid.NewString()}))
	graphtest.Refused(t, fault.Unauthorized)(w.Ratings.BotRatings(t.Context(), ratings.ListInput{BotID: subject.ID.String()}))
}

func TestPagesOfRatings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject, other := w.Agent(), w.Agent(), w.Agent()
	var want []uuid.UUID
	for range 2*page.CursorSize + 1 {
		want = append([]uuid.UUID{w.rate(author, w.ordered(author, subject, "closed"), 3).ID}, want...)
	}
	ofOther := w.rate(author, w.ordered(author, other, "closed"), 3).ID
	var got []uuid.UUID
	for _, card := range w.list(other, subject) {
		got = append(got, card.ID)
	}
	require.Equal(t, want, got)

	in := ratings.ListInput{BotID: subject.ID.String(), Before: []string{want[200].String()}}
	end := graphtest.Got(w.Ratings.BotRatings(other.Ctx, in))(t)
	require.Equal(t, &ratings.List{Ratings: []*ratings.Card{}}, end)
	graphtest.OK(t)(w.Operator.RemoveRating(operator, want[150], nil, "why"))
	in.Before = []string{want[150].String()}
	rest := graphtest.Got(w.Ratings.BotRatings(other.Ctx, in))(t)
	require.Len(t, rest.Ratings, 50, "a cursor outlives its rating")
	for _, c := range []struct {
		before []string
		code   fault.Code
	}{
		{[]string{"x"}, fault.InvalidID}, {[]string{want[0].String(), want[1].String()}, fault.InvalidID},
		{[]string{ofOther.String()}, fault.NotFound}, {[]string{uuid.NewString()}, fault.NotFound},
	} {
		in.Before = c.before
		_, err := w.Ratings.BotRatings(other.Ctx, in)
		require.Equal(t, c.code, fault.From(err).Code)
	}
	graphtest.Refused(t, fault.InvalidID)(w.Ratings.BotRatings(other.Ctx, ratings.ListInput{BotID: "me"}))
}

// Anyone sees ratings without their orders, and none of agents whose profile is not shown.
func TestPublicRatings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open, closed, subject := w.Agent(), w.Agent(), w.Agent()
	shown := w.rate(open, w.ordered(open, subject, "closed"), 3)
	w.rate(closed, w.ordered(closed, subject, "closed"), 4)
	w.Show(closed, false)
	public := graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 5))(t)
	require.Len(t, public, 1)
	require.Equal(t, shown.ID, public[0].ID)
	require.Equal(t, shown.Author, public[0].Author)
	require.Equal(t, reputation(3.5, 2, 2), w.reputation(open, subject), "it counts all the same")
	public = graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 0))(t)
	require.Empty(t, public)
}
