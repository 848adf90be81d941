package ratings_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
)

var operator = viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})

// model computes reputations in a simple way, from all ratings in the order of their creation.
type model []*rated

type rated struct {
	id              uuid.UUID
	author, subject *graphtest.Agent
	stars           int
	// asContractor: the subject was the contractor.
	asContractor bool
	removed      bool
}

// standing returns the whole reputation of an agent; each order has a reward of 100.
func (m model) standing(of *graphtest.Agent) ratings.Reputation {
	all := m.score(of, func(*rated) bool { return true })
	return ratings.Reputation{
		Score: all, VolumeMinor: 100 * all.Ratings, AsContractor: m.score(of, func(r *rated) bool { return r.asContractor }),
		AsCustomer: m.score(of, func(r *rated) bool { return !r.asContractor }),
	}
}

func (m model) score(of *graphtest.Agent, counts func(*rated) bool) ratings.Score {
	var p ratings.Score
	latest := make(map[*graphtest.Agent]int)
	for _, r := range m {
		if r.subject == of && !r.removed && counts(r) {
			p.Ratings++
			latest[r.author] = r.stars
		}
	}
	sum := 0
	for _, stars := range latest {
		sum += stars
	}
	if p.Counterparties = int64(len(latest)); len(latest) > 0 {
		average := float64(sum) / float64(len(latest))
		p.Average = &average
	}
	return p
}

// After any ratings and removals in any order, reputations and lists equal the model's.
func TestReputationsFollowTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent(), w.Agent()}
		var m model
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			if len(m) > 0 && rapid.IntRange(0, 3).Draw(r, "what") == 0 {
				gone := rapid.SampledFrom(m).Draw(r, "removed")
				_, err := w.Operator.RemoveRating(operator, gone.id, nil, "why")
				if gone.removed {
					require.Equal(r, fault.NotFound, fault.From(err).Code)
				} else {
					require.NoError(r, err)
				}
				gone.removed = true
			} else {
				pair := rapid.Permutation(agents).Draw(r, "pair")
				stars := rapid.IntRange(1, 5).Draw(r, "stars")
				sells := rapid.Bool().Draw(r, "sells")
				order := w.Ordered(pair[1], pair[0], "closed")
				if sells {
					order = w.Ordered(pair[0], pair[1], "closed")
				}
				made := w.rate(pair[0], order, int64(stars))
				require.Equal(r, map[bool]string{true: "customer", false: "contractor"}[sells], made.AuthorRole)
				m = append(m, &rated{made.ID, pair[0], pair[1], stars, sells, false})
			}
			for _, of := range agents {
				require.Equal(r, m.standing(of), w.standing(agents[0], of))
			}
		}
		for _, of := range agents {
			want := []uuid.UUID{}
			for _, made := range slices.Backward(m) {
				if made.subject == of && !made.removed {
					want = append(want, made.id)
				}
			}
			got := []uuid.UUID{}
			for _, card := range w.list(agents[0], of) {
				got = append(got, card.ID)
			}
			require.Equal(r, want, got)
		}
	})
}

// Concurrent ratings of one agent, several by the same counterparty, and concurrent removals are all counted.
func TestReputationsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	subject, authors := w.Agent(), []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
	var orders [36]uuid.UUID
	for i := range orders {
		orders[i] = w.Ordered(authors[i%3], subject, "closed")
	}
	codes := graphtest.AtOnce(len(orders), func(i int) error {
		made, err := w.Ratings.RateOrder(authors[i%3].Ctx, input(orders[i], int64(1+i%5)))
		if err == nil && i/3%3 == 0 {
			_, err = w.Operator.RemoveRating(operator, made.Rating.ID, nil, "why")
		}
		return err
	})
	require.Equal(t, map[fault.Code]int{"": len(orders)}, codes.Count())
	got := w.reputation(subject, subject)
	require.EqualValues(t, 24, got.Ratings)
	require.EqualValues(t, 3, got.Counterparties)
	average := graphtest.Column[float64](w.World, `SELECT avg(stars) FROM (SELECT DISTINCT ON (author_id) stars FROM ratings
		WHERE subject_id = $1 AND removed_at IS NULL ORDER BY author_id, created_at DESC, id DESC) latest`, subject.ID)[0]
	require.InDelta(t, average, *got.Average, 1e-9)
	require.Len(t, w.list(subject, subject), 24)
}

// A removed rating is not in the list, no longer counts, and cannot be made again.
func TestARemovedRating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject := w.Agent(), w.Agent()
	first := w.rate(author, w.Ordered(author, subject, "closed"), 2)
	last := w.Ordered(author, subject, "closed")
	in := input(last, 5)
	made := graphtest.Got(w.Ratings.RateOrder(author.Ctx, in))(t)
	require.Equal(t, reputation(5, 2, 1), w.reputation(author, subject))

	gone := graphtest.Got(w.Operator.RemoveRating(operator, made.Rating.ID, nil, "bought"))(t)
	require.NotNil(t, gone.RemovedAt)
	require.Equal(t, subject.ID, graphtest.Got(gone.Subject(operator))(t).ID)
	require.Equal(t, reputation(2, 1, 1), w.reputation(author, subject), "the one before counts again")
	require.Equal(t, []*ratings.Card{first}, w.list(author, subject))
	graphtest.Refused(t, fault.StateConflict)(w.Ratings.RateOrder(author.Ctx, input(last, 5)))
	require.True(t, graphtest.Got(w.Ratings.RateOrder(author.Ctx, in))(t).Repeated)
	graphtest.OK(t)(w.Operator.RemoveRating(operator, first.ID, nil, "this one, too"))
	require.Equal(t, ratings.Score{}, w.reputation(author, subject))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM audit_entries WHERE procedure = 'removeRating'"))
}

// Owners are counted once for each address, except the agent's own, after any change of addresses; without mail they are null.
func TestOwnersOfRaters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	subject, one, two, three, own := w.Agent(), w.Agent(), w.Agent(), w.Agent(), w.Agent()
	owned := func(agent *graphtest.Agent, address string) {
		w.Exec("INSERT INTO owner_emails (address, created_at) VALUES ($1, stoa_now()) ON CONFLICT DO NOTHING", address)
		w.Exec("INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents) VALUES ($1, $2, stoa_now(), stoa_now(), '[]')", agent.ID, address)
	}
	for _, author := range []*graphtest.Agent{one, two, three, own} {
		w.rate(author, w.Ordered(author, subject, "closed"), 5)
	}
	require.Nil(t, w.standing(one, subject).Owners, "mail is not set up")
	w.Profiles.SendsMail = true
	require.EqualValues(t, 0, *w.standing(one, subject).Owners)
	owned(one, "a@example.org")
	owned(two, "a@example.org")
	owned(own, "me@example.org")
	require.EqualValues(t, 2, *w.standing(one, subject).Owners)
	owned(subject, "me@example.org")
	require.EqualValues(t, 1, *w.standing(one, subject).Owners, "its own does not count")
	owned(three, "b@example.org")
	require.EqualValues(t, 2, *w.standing(one, subject).Owners)
	w.Exec("DELETE FROM bot_owners WHERE bot_id = $1", three.ID)
	require.EqualValues(t, 1, *w.standing(one, subject).Owners)
	refunded := w.Ordered(one, subject, "closed")
	w.Exec("UPDATE orders SET outcome = 'refunded' WHERE id = $1", refunded)
	w.rate(one, refunded, 1)
	require.EqualValues(t, 400, w.standing(one, subject).VolumeMinor, "refunded orders add no volume")
}

// A card counts the orders in dispute, in either role, and the late orders that its agent has to deliver, rated or not.
func TestReputationShowsDisputesAndDelays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	subject, other, reader := w.Agent(), w.Agent(), w.Agent()
	for state, overdue := range map[string]bool{
		"offered": false, "funded": true, "in_progress": true, "delivered": false, "disputed": false, "closed": false, "cancelled": false,
	} {
		before := w.standing(reader, subject)
		w.Ordered(subject, other, state)
		late := w.Ordered(other, subject, state)
		due := w.Ordered(other, subject, state)
		w.Exec("UPDATE orders SET deadline = stoa_now() - interval '1 second' WHERE id = $1", late)
		w.Exec("UPDATE orders SET deadline = stoa_now() + interval '1 hour' WHERE id = $1", due)
		found := w.standing(reader, subject)
		require.Equal(t, overdue, found.Overdue == before.Overdue+1, state)
		require.Equal(t, state == "disputed", found.Disputed == before.Disputed+3, state)
	}
	require.EqualValues(t, 2, w.standing(reader, subject).Overdue)
	require.EqualValues(t, 3, w.standing(reader, subject).Disputed)
	require.Zero(t, w.standing(reader, subject).Ratings)
}

// The title of the order shows only if both sides have rated each other, while both profiles are open.
func TestTitlesOfRatedOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject, reader := w.Agent(), w.Agent(), w.Agent()
	order := w.Ordered(author, subject, "closed")
	require.Nil(t, w.rate(author, order, 5).OrderTitle)
	title := func() *string {
		t.Helper()
		shown := w.list(reader, subject)[0].OrderTitle
		public := graphtest.Got(w.Ratings.PublicRatings(t.Context(), subject.ID, 1))(t)
		if len(public) > 0 {
			require.Equal(t, shown, public[0].OrderTitle)
		}
		return shown
	}
	require.Nil(t, title())
	back := w.rate(subject, order, 4)
	require.Equal(t, ptr("x"), back.OrderTitle)
	require.Equal(t, ptr("x"), title())
	w.Show(author, false)
	require.Nil(t, title())
	w.Show(author, true)
	w.Exec("UPDATE ratings SET removed_at = stoa_now() WHERE id = $1", back.ID)
	require.Nil(t, title())
}

// Lists of cards show the same reputation as single cards.
func TestSearchShowsReputations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, subject := w.Agent(), w.Agent()
	w.Exec("UPDATE bots SET display_name = 'Zephyr', specialty = 'wind' WHERE id = $1", subject.ID)
	w.rate(author, w.Ordered(author, subject, "closed"), 3)
	for _, in := range []profiles.SearchInput{{}, {Q: []string{"zephyr"}}, {Specialty: []string{"wind"}}} {
		found := graphtest.Got(w.Profiles.SearchBots(author.Ctx, in))(t)
		for _, card := range found.Bots {
			want := ratings.Score{}
			if card.ID == subject.ID {
				want = reputation(3, 1, 1)
			}
			require.Equal(t, want, card.Reputation.Score)
		}
		require.Equal(t, subject.ID, found.Bots[len(found.Bots)-1].ID)
	}
}
