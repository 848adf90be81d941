package ratings

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
	"stoa/ent/rating"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/once"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// RateOrder rates the other participant of a closed order, once for each side (§2.10, §4.7). Only the two participants may call
// it, even if not active. The order of checks: invalid_id, invalid_input, the stored answer of an identical request or
// idempotency_conflict, not_found, state_conflict (the order is not closed, or this side has rated already, even if an operator
// has removed that rating).
func (a *API) RateOrder(ctx context.Context, in RateInput) (*Result, error) {
	v, r, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	op, err := once.NewRequest(v.BotID, r.operationID, "rating", r.orderID, in)
	if err != nil {
		return nil, err
	}
	return once.Do(ctx, a.DB, nil, nil, func(ctx context.Context, tx *db.Tx) (*Result, error) {
		if err := bots.Lock(ctx, tx, op.Agent); err != nil {
			return nil, err
		}
		s, err := db.One[snapshot](ctx, tx.SQL, named("select_for_rating"), r.orderID, op.Agent, op.ID)
		if err != nil {
			return nil, err
		}
		if made, err := once.Repeated[Result](op, s.Stored); made != nil || err != nil {
			return made, err
		}
		if err := s.refuse(); err != nil {
			return nil, err
		}
		return a.write(ctx, tx, op, r, s)
	})
}

// refuse returns the fault if a side of an order may not rate the other, or nil.
func (s *snapshot) refuse() error {
	switch {
	case s.SubjectID == nil:
		return fault.New(fault.NotFound)
	case s.OrderState != string(order.StateClosed):
		return fault.New(fault.StateConflict).Say("The order is " + s.OrderState + "; only one that is closed can be rated.")
	case s.Rated:
		return fault.New(fault.StateConflict).Say("You have rated this order already.")
	default:
		return nil
	}
}

// write writes a rating, its answer under the same id, and the event. It returns once.ErrStale if a concurrent request has rated
// for this side.
func (a *API) write(ctx context.Context, tx *db.Tx, op once.Request, r rate, s *snapshot) (*Result, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	rated := &row{By: s.Author, ByContractor: s.ByContractor, Card: Card{
		ID: uuid.Must(uuid.NewV7()), CreatedAt: now, OrderID: r.orderID, SubjectID: *s.SubjectID, Stars: r.stars, Text: r.text,
		OrderTitle: s.OrderTitle,
	}}
	made := &Result{Rating: rated.card()}
	if made.Answer, err = once.NewAnswer("rating", made.Rating); err != nil {
		return nil, err
	}
	if err := op.Store(ctx, tx, rated.ID, now, made.Answer); err != nil {
		return nil, err
	}
	err = tx.Ent.Rating.Create().SetID(rated.ID).SetCreatedAt(now).SetOrderID(rated.OrderID).
		SetAuthorID(op.Agent).SetSubjectID(rated.SubjectID).SetStars(rated.Stars).SetText(rated.Text).Exec(ctx)
	if db.Violates(err, "rating_order_id_author_id") {
		return nil, once.ErrStale
	}
	if err != nil {
		return nil, err
	}
	return made, a.Events.Add(ctx, tx, events.Event{
		Recipient: rated.SubjectID, Kind: events.OrderRated,
		Payload: events.RatingPayload{OrderID: rated.OrderID, RatingID: rated.ID, Stars: rated.Stars},
	})
}

// Remove permanently removes a rating from the list and the reputation of its subject, in the caller's transaction; the author's
// previous rating counts again. The author cannot rate the order again. It checks no caller. Faults: not_found, also if the
// rating is removed already.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) (*ent.Rating, error) {
	found, err := tx.Ent.Rating.Query().Where(rating.ID(id), rating.RemovedAtIsNil()).ForUpdate().Only(ctx)
	if err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	return found.Update().SetRemovedAt(now).Save(ctx)
}

// Given lists up to limit ratings that an agent has given, with ids greater than after, in the order of ids, also if its profile
// is closed. Only package exports calls it.
func (a *API) Given(ctx context.Context, agent, after uuid.UUID, limit int) ([]*Card, error) {
	return a.listed(ctx, named("list_given"), agent, after, limit)
}

// Received is like Given, for the ratings that the agent has received.
func (a *API) Received(ctx context.Context, agent, after uuid.UUID, limit int) ([]*Card, error) {
	return a.listed(ctx, named("list_received"), agent, after, limit)
}

func (a *API) listed(ctx context.Context, s *db.Statement, agent, after uuid.UUID, limit int) ([]*Card, error) {
	found, err := db.All[row](ctx, a.DB.SQL, s, agent, after, limit)
	if err != nil {
		return nil, err
	}
	return page.Map(found, (*row).card), nil
}
