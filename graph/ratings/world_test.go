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

// input returns a rating of an order, with stars and no text.
func input(order uuid.UUID, stars int64) ratings.RateInput {
	return ratings.RateInput{OrderID: order.String(), OperationID: ptr(uuid.NewString()), Stars: &stars}
}

// rate lets an agent rate an order.
func (w *world) rate(by *graphtest.Agent, order uuid.UUID, stars int64) *ratings.Card {
	made := graphtest.Got(w.Ratings.RateOrder(by.Ctx, input(order, stars)))(w.t)
	require.False(w.t, made.Repeated)
	return made.Rating
}

// reputation returns the score, over both roles, on an agent's card that another agent reads.
func (w *world) reputation(reader, of *graphtest.Agent) ratings.Score {
	return w.standing(reader, of).Score
}

// standing returns the whole reputation on an agent's card that another agent reads.
func (w *world) standing(reader, of *graphtest.Agent) ratings.Reputation {
	return graphtest.Got(w.Profiles.BotCard(reader.Ctx, profiles.BotInput{BotID: of.ID.String()}))(w.t).Bot.Reputation
}

// list reads all pages of an agent's ratings.
func (w *world) list(reader, of *graphtest.Agent) (all []*ratings.Card) {
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
	return w.Count("SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = 'order.rated'", agent.ID)
}

func reputation(average float64, all, counterparties int64) ratings.Score {
	return ratings.Score{Average: &average, Ratings: all, Counterparties: counterparties}
}
