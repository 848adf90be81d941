package ratings_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/ratings"
)

func TestARating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Agent(), w.Agent()
	order := w.Ordered(customer, contractor, "closed")
	require.Equal(t, ratings.Score{}, w.reputation(customer, contractor))

	in := input(order, 4)
	in.Text = ptr("On time.\nNot a word too many.")
	made := graphtest.Got(w.Ratings.RateOrder(customer.Ctx, in))(t)
	require.Equal(t, order, made.Rating.OrderID)
	require.Equal(t, customer.ID, made.Rating.Author.ID)
	require.Equal(t, contractor.ID, made.Rating.SubjectID)
	require.Equal(t, 4, made.Rating.Stars)
	require.Equal(t, *in.Text, made.Rating.Text)
	require.Equal(t, reputation(4, 1, 1), w.reputation(customer, contractor))
	require.Equal(t, ratings.Score{}, w.reputation(contractor, customer), "the other side is not rated")
	require.Equal(t, []*ratings.Card{made.Rating}, w.list(contractor, contractor))

	payload := graphtest.Column[string](w.World,
		"SELECT payload FROM events WHERE recipient_id = $1 AND kind = 'order.rated'", contractor.ID)[0]
	require.JSONEq(t, `{"order_id":"`+order.String()+`","rating_id":"`+made.Rating.ID.String()+`","stars":4}`, payload)
	require.Zero(t, w.ratedEvents(customer))

	back := w.rate(contractor, order, 5)
	require.Empty(t, back.Text)
	require.Equal(t, reputation(5, 1, 1), w.reputation(contractor, customer))
}

// An order can be rated if it is closed, with either outcome, and in no other state.
func TestOnlyClosedOrdersAreRated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor, stranger := w.Agent(), w.Agent(), w.Agent()
	for _, state := range []string{"offered", "funded", "in_progress", "delivered", "disputed", "cancelled", "rejected"} {
		order := w.Ordered(customer, contractor, state)
		for _, by := range []*graphtest.Agent{customer, contractor} {
			graphtest.Refused(t, fault.StateConflict)(w.Ratings.RateOrder(by.Ctx, input(order, 5)))
		}
	}
	order := w.Ordered(customer, contractor, "closed")
	w.Exec("UPDATE orders SET outcome = 'refunded' WHERE id = $1", order)
	for _, id := range []uuid.UUID{order, uuid.New(), customer.ID} {
		graphtest.Refused(t, fault.NotFound)(w.Ratings.RateOrder(stranger.Ctx, input(id, 5)))
	}
	w.rate(customer, order, 1)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ratings"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM operations"))
}

func TestRateInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Agent(), w.Agent()
	order := w.Ordered(customer, contractor, "closed")
	for name, c := range map[string]struct {
		change func(*ratings.RateInput)
		code   fault.Code
		field  string
	}{
		"no order":        {func(in *ratings.RateInput) { in.OrderID = "me" }, fault.InvalidID, "order_id"},
		"no operation":    {func(in *ratings.RateInput) { in.OperationID = nil }, fault.InvalidInput, "operation_id"},
		"wrong operation": {func(in *ratings.RateInput) { in.OperationID = ptr("x") }, fault.InvalidInput, "operation_id"},
		"no stars":        {func(in *ratings.RateInput) { in.Stars = nil }, fault.InvalidInput, "stars"},
		"too few":         {func(in *ratings.RateInput) { in.Stars = graphtest.Ptr(int64(0)) }, fault.InvalidInput, "stars"},
		"too many":        {func(in *ratings.RateInput) { in.Stars = graphtest.Ptr(int64(6)) }, fault.InvalidInput, "stars"},
		"too long":        {func(in *ratings.RateInput) { in.Text = ptr(strings.Repeat("é", 501)) }, fault.InvalidInput, "text"},
		"a bell":          {func(in *ratings.RateInput) { in.Text = ptr("ding\a") }, fault.InvalidInput, "text"},
	} {
		in := input(order, 3)
		c.change(&in)
		graphtest.RefusedField(t, c.code, c.field, name)(w.Ratings.RateOrder(customer.Ctx, in))
	}
	in := input(order, 3)
	in.Text = ptr(strings.Repeat("é", 500))
	graphtest.OK(t)(w.Ratings.RateOrder(customer.Ctx, in))
}

// An identical request gets the first answer; any other request under the same operation id is a conflict, which comes before
// faults of the order.
func TestARepeatedRating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Agent(), w.Agent()
	contact := w.Befriend(customer, contractor)
	order, other := w.Ordered(customer, contractor, "closed"), w.Ordered(customer, contractor, "closed")
	in := input(order, 4)
	first := graphtest.Got(w.Ratings.RateOrder(customer.Ctx, in))(t)
	body := graphtest.Got(json.Marshal(first))(t)

	w.Block(contractor, contact) // which changes nothing
	w.Exec("UPDATE bots SET display_name = 'Another', state = 'trash' WHERE id = $1", customer.ID)
	again := in
	again.OperationID = ptr(strings.ToUpper(*in.OperationID))
	repeat := graphtest.Got(w.Ratings.RateOrder(customer.Ctx, again))(t)
	require.True(t, repeat.Repeated)
	require.Equal(t, string(body), string(graphtest.Got(json.Marshal(repeat))(t)))
	require.Equal(t, first.Rating.ID, repeat.Rating.ID)

	for _, change := range []func(*ratings.RateInput){
		func(in *ratings.RateInput) { in.Stars = graphtest.Ptr(int64(5)) },
		func(in *ratings.RateInput) { in.Text = ptr("") },
		func(in *ratings.RateInput) { in.OrderID = other.String() },
		func(in *ratings.RateInput) { in.OrderID = uuid.NewString() },
	} {
		changed := in
		change(&changed)
		graphtest.Refused(t, fault.IdempotencyConflict)(w.Ratings.RateOrder(customer.Ctx, changed))
	}
	graphtest.Refused(t, fault.IdempotencyConflict)(w.Orders.OrderAct(customer.Ctx, orders.ActInput{
		OrderID: other.String(), Action: orders.Complete, OperationID: in.OperationID, ExpectedVersion: graphtest.Ptr(int64(1)),
	}))
	graphtest.Refused(t, fault.StateConflict)(w.Ratings.RateOrder(customer.Ctx, input(order, 4)))
	require.EqualValues(t, 1, w.ratedEvents(contractor))
	require.Equal(t, reputation(4, 1, 1), w.reputation(contractor, contractor))
	// Another agent's operations are not visible.
	mine := input(order, 2)
	mine.OperationID = in.OperationID
	graphtest.OK(t)(w.Ratings.RateOrder(contractor.Ctx, mine))
}

// Of many identical concurrent requests, one creates the rating and the others get its answer; of different ones by the same
// side, one is accepted.
func TestRatingsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Agent(), w.Agent()
	order := w.Ordered(customer, contractor, "closed")
	same := input(order, 5)
	var repeated atomic.Int64
	codes := graphtest.AtOnce(12, func(i int) error {
		in := same
		if i%2 == 1 {
			in = input(order, 1)
		}
		result, err := w.Ratings.RateOrder(customer.Ctx, in)
		if err == nil && result.Repeated {
			repeated.Add(1)
		}
		return err
	})
	taken := 1 + int(repeated.Load())
	require.Contains(t, []int{1, 6}, taken)
	require.Equal(t, map[fault.Code]int{"": taken, fault.StateConflict: 12 - taken}, codes.Count())
	require.EqualValues(t, 1, w.ratedEvents(contractor))
	require.EqualValues(t, 1, w.reputation(customer, contractor).Ratings)
}

// A caller that may see the card may read the ratings.
func TestRatingsAreHiddenWithTheProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject := w.Agent(), w.Agent()
	w.rate(author, w.Ordered(author, subject, "closed"), 3)
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
}

func TestPagesOfRatings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject, other := w.Agent(), w.Agent(), w.Agent()
	var want []uuid.UUID
	for range 2*page.CursorSize + 1 {
		want = append([]uuid.UUID{w.rate(author, w.Ordered(author, subject, "closed"), 3).ID}, want...)
	}
	ofOther := w.rate(author, w.Ordered(author, other, "closed"), 3).ID
	var got []uuid.UUID
	for _, card := range w.list(other, subject) {
		got = append(got, card.ID)
	}
	require.Equal(t, want, got)

	in := ratings.ListInput{BotID: subject.ID.String(), Before: []string{want[200].String()}}
	require.Equal(t, &ratings.List{Ratings: []*ratings.Card{}}, graphtest.Got(w.Ratings.BotRatings(other.Ctx, in))(t))
	graphtest.OK(t)(w.Operator.RemoveRating(operator, want[150], nil, "why"))
	in.Before = []string{want[150].String()}
	require.Len(t, graphtest.Got(w.Ratings.BotRatings(other.Ctx, in))(t).Ratings, 50, "a cursor outlives its rating")
	for _, c := range []struct {
		before []string
		code   fault.Code
	}{
		{[]string{"x"}, fault.InvalidID}, {[]string{want[0].String(), want[1].String()}, fault.InvalidID},
		{[]string{ofOther.String()}, fault.NotFound}, {[]string{uuid.NewString()}, fault.NotFound},
	} {
		in.Before = c.before
		graphtest.Refused(t, c.code)(w.Ratings.BotRatings(other.Ctx, in))
	}
	graphtest.Refused(t, fault.InvalidID)(w.Ratings.BotRatings(other.Ctx, ratings.ListInput{BotID: "me"}))
}

// Anyone sees ratings without their orders. Ratings by agents whose profile is hidden are not shown.
func TestPublicRatings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open, closed, subject := w.Agent(), w.Agent(), w.Agent()
	shown := w.rate(open, w.Ordered(open, subject, "closed"), 3)
	w.rate(closed, w.Ordered(closed, subject, "closed"), 4)
	w.Show(closed, false)
	public := graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 5))(t)
	require.Len(t, public, 1)
	require.Equal(t, shown.ID, public[0].ID)
	require.Equal(t, shown.Author, public[0].Author)
	require.Equal(t, reputation(3.5, 2, 2), w.reputation(open, subject), "the rating that is not shown counts too")
	public = graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 0))(t)
	require.Empty(t, public)
}
