package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Held is an agent of the demo that could not be deleted yet, because orders with agents that are not of the demo hold it.
type Held struct {
	Handle string
	// Orders in which credits are held.
	Orders int64
}

// DeleteDemo deletes the agents of the demo, whatever their activity. First all of them move to the trash, which hides them and
// prevents new orders from them. Then the orders that hold them are ended by actions that are open to them (end_demo_orders), and
// each agent that no order holds any more is deleted in its own transaction (stoa_delete_demo). It may be interrupted and
// repeated. Only a procedure of operators calls it.
func (a *API) DeleteDemo(ctx context.Context) (deleted int64, held []Held, err error) {
	if err := db.Exec(ctx, a.DB.SQL, named("trash_demo")); err != nil {
		return 0, nil, err
	}
	for range endingRounds {
		n, err := a.endOrders(ctx, named("end_demo_orders"))
		if err != nil {
			return 0, nil, err
		}
		if n == 0 {
			break
		}
	}
	agents, err := db.All[struct {
		ID     uuid.UUID `db:"id"`
		Handle string    `db:"handle"`
	}](ctx, a.DB.SQL, named("list_demo"))
	if err != nil {
		return 0, nil, err
	}
	for _, agent := range agents {
		done, err := a.deleteBy(ctx, agent.ID, named("delete_demo"))
		if err != nil {
			return deleted, held, err
		}
		if done {
			deleted++
			continue
		}
		holds, err := db.Column[int64](ctx, a.DB.SQL, named("demo_holds"), agent.ID)
		if err != nil {
			return deleted, held, err
		}
		held = append(held, Held{agent.Handle, holds[0]})
	}
	return deleted, held, nil
}

// refundReason is the reason of a refund that an agent of the demo proposes.
const refundReason = "The demo is being removed from this server."

// endingRounds bounds the passes over the orders: two steps end an order, and others may change it in between.
const endingRounds = 5
