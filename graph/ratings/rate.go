package ratings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// errTaken reports that another request took the operation id, or rated for the same side, since the snapshot was read.
var errTaken = errors.New("ratings: the snapshot is stale")

// attempts bounds how often a request decides again. The second snapshot holds what the first attempt met, so only a third
// request in between can lead to another.
const attempts = 3

// RateOrder rates the other participant of a closed order, once a side (§2.10, §4.7). Only one of the two participants may call
// it, also one that is not active. The order of checks: invalid_id, invalid_input, the stored answer of an identical request or
// idempotency_conflict, not_found, state_conflict (the order is not closed, or this side has rated already, even if an operator
// has removed that rating).
func (a *API) RateOrder(ctx context.Context, in RateInput) (*Result, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	r, err := in.check()
	if err != nil {
		return nil, err
	}
	for range attempts {
		var made *Result
		err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			made, err = a.attempt(ctx, tx, v.BotID, r)
			return err
		})
		if !errors.Is(err, errTaken) {
			return made, err
		}
	}
	return nil, fault.New(fault.ServiceUnavailable)
}

// attempt reads what decides a rating, decides, and writes.
func (a *API) attempt(ctx context.Context, tx *db.Tx, callerID uuid.UUID, r rate) (*Result, error) {
	s, err := db.One[snapshot](ctx, tx.SQL, selectForRating, r.orderID, callerID, r.operationID)
	if err != nil {
		return nil, err
	}
	if s.Result != nil {
		return s.repeat(r)
	}
	if err := s.refuse(); err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	rated := &row{
		ID: uuid.Must(uuid.NewV7()), CreatedAt: now, OrderID: r.orderID, SubjectID: *s.SubjectID, Stars: r.stars, Text: r.text,
		Author: s.Author, ByContractor: s.ByContractor, OrderTitle: s.OrderTitle,
	}
	made := &Result{Rating: rated.card()}
	if made.body, err = wire.Marshal(struct {
		Rating *Card `json:"rating"`
	}{made.Rating}); err != nil {
		return nil, err
	}
	if err := write(ctx, tx, callerID, r, rated, made.body); err != nil {
		return nil, err
	}
	return made, a.Events.Add(ctx, tx, events.Event{
		Recipient: rated.SubjectID, Kind: events.OrderRated,
		Payload: events.RatingPayload{OrderID: rated.OrderID, RatingID: rated.ID, Stars: rated.Stars},
	})
}

// repeat is the answer to a request whose operation is stored.
func (s *snapshot) repeat(r rate) (*Result, error) {
	if !bytes.Equal(s.Hash, r.hash) {
		return nil, fault.New(fault.IdempotencyConflict)
	}
	kept := &Result{Replay: wire.Replayed(), body: s.Result}
	return kept, json.Unmarshal(s.Result, kept)
}

// refuse returns why a side of an order may not rate the other, or nil.
func (s *snapshot) refuse() error {
	switch {
	case s.SubjectID == nil:
		return fault.New(fault.NotFound)
	case !s.Closed:
		return fault.New(fault.StateConflict).Say("An order can be rated once it is closed.")
	case s.Rated:
		return fault.New(fault.StateConflict).Say("You have rated this order already.")
	default:
		return nil
	}
}

// write stores the answer under the rating's id, by which a deletion of the author finds it, and the rating. It returns errTaken
// where another request was first.
func write(ctx context.Context, tx *db.Tx, authorID uuid.UUID, r rate, rated *row, answer []byte) error {
	err := tx.Ent.Operation.Create().SetID(rated.ID).SetCreatedAt(rated.CreatedAt).SetBotID(authorID).
		SetOperationID(r.operationID).SetRequestHash(r.hash).SetResult(answer).Exec(ctx)
	if db.Violates(err, "operation_bot_id_operation_id") {
		return errTaken
	}
	if err != nil {
		return err
	}
	err = tx.Ent.Rating.Create().SetID(rated.ID).SetCreatedAt(rated.CreatedAt).SetOrderID(rated.OrderID).
		SetAuthorID(authorID).SetSubjectID(rated.SubjectID).SetStars(rated.Stars).SetText(rated.Text).Exec(ctx)
	if db.Violates(err, "rating_order_id_author_id") {
		return errTaken
	}
	return err
}
