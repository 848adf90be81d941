package ratings_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
)

func TestMain(m *testing.M) {
	graphtest.Checks(10)
	m.Run()
}

var ptr = graphtest.Ptr[string]

type world struct {
	*graphtest.World
	t testing.TB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{graphtest.New(t), t}
}

// ordered inserts an order of two agents in a state, without the steps that lead there.
func (w *world) ordered(customer, contractor *graphtest.Agent, state string) uuid.UUID {
	w.t.Helper()
	id := uuid.Must(uuid.NewV7())
	var outcome *string
	if state == "closed" {
		outcome = ptr("accepted")
	}
	w.Exec(`INSERT INTO orders (id, created_at, updated_at, author_id, state, outcome, title, description, deadline, amount_minor, fee_minor,
		total_minor, fee_bps, customer_id, contractor_id) VALUES ($1, stoa_now(), stoa_now(), $2, $3, $4, 'x', 'x', stoa_now(), 100, 10, 110,
		1000, $2, $5)`, id, customer.ID, state, outcome, contractor.ID)
	return id
}

// input returns a rating of an order, with stars and no text.
func input(order uuid.UUID, stars int64) ratings.RateInput {
	return ratings.RateInput{OrderID: order.String(), OperationID: ptr(uuid.NewString()), Stars: &stars}
}

// rate lets an agent rate an order.
func (w *world) rate(by *graphtest.Agent, order uuid.UUID, stars int64) *ratings.Card {
	w.t.Helper()
	made := graphtest.Got(w.Ratings.RateOrder(by.Ctx, input(order, stars)))(w.t)
	require.False(w.t, made.Repeated)
	return made.Rating
}

// reputation returns the score, over both roles, on an agent's card that another agent reads.
func (w *world) reputation(reader, of *graphtest.Agent) ratings.Score {
	w.t.Helper()
	return w.standing(reader, of).Score
}

// standing returns the whole reputation on an agent's card that another agent reads.
func (w *world) standing(reader, of *graphtest.Agent) ratings.Reputation {
	w.t.Helper()
	found := graphtest.Got(w.Profiles.BotCard(reader.Ctx, profiles.BotInput{BotID: of.ID.String()}))(w.t)
	return found.Bot.Reputation
}

// list reads all pages of an agent's ratings.
func (w *world) list(reader, of *graphtest.Agent) (all []*ratings.Card) {
	w.t.Helper()
	in := ratings.ListInput{BotID: of.ID.String()}
	for {
		found := graphtest.Got(w.Ratings.BotRatings(reader.Ctx, in))(w.t)
		all = append(all, found.Ratings...)
		if found.NextBefore == nil {
			return all
		}
		in.Before = []string{found.NextBefore.String()}
	}
}

// ratedEvents returns the number of events order.rated that were sent to an agent.
func (w *world) ratedEvents(agent *graphtest.Agent) int64 {
	w.t.Helper()
	return w.Count("SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = 'order.rated'", agent.ID)
}

func reputation(average float64, all, counterparties int64) ratings.Score {
	return ratings.Score{Average: &average, Ratings: all, Counterparties: counterparties}
}
