package receipts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
)

// sources holds the orders, ratings and files that a batch of documents refers to. Five statements read the whole batch.
type sources struct {
	orders    map[uuid.UUID]*closedOrder
	ratings   map[uuid.UUID]*givenRating
	steps     map[uuid.UUID][]step
	transfers map[uuid.UUID][]transfer
	bound     map[use][]file
}

// use is an order and a kind of its files.
type use struct {
	OrderID uuid.UUID            `db:"order_id"`
	Kind    attachment.BoundKind `db:"kind"`
}

// closedOrder is an order as its receipt shows it, and the texts that the receipt contains as hashes.
type closedOrder struct {
	receipt

	Title, Description string
	ResultText         *string
}

// givenRating is a rating as its document shows it. The text is null if its author is deleted.
type givenRating struct {
	rating

	Text *string
}

// readSources reads the sources of documents.
func readSources(ctx context.Context, tx *db.Tx, documents []*unsigned) (*sources, error) {
	var ordersOf, ratingsOf []uuid.UUID
	for _, d := range documents {
		if d.Kind == kindOfReceipt {
			ordersOf = append(ordersOf, d.OrderID)
		} else {
			ratingsOf = append(ratingsOf, d.ID)
		}
	}
	of := &sources{
		orders: make(map[uuid.UUID]*closedOrder), ratings: make(map[uuid.UUID]*givenRating),
		steps: make(map[uuid.UUID][]step), transfers: make(map[uuid.UUID][]transfer), bound: make(map[use][]file),
	}
	if err := of.readOrders(ctx, tx, ordersOf); err != nil {
		return nil, err
	}
	given, err := db.All[givenRating](ctx, tx.SQL, named("read_ratings_of_receipts"), db.IDs(ratingsOf))
	if err != nil {
		return nil, err
	}
	for _, r := range given {
		of.ratings[r.ID] = r
	}
	return of, nil
}

func (src *sources) readOrders(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	closed, err := db.All[closedOrder](ctx, tx.SQL, named("read_orders_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, o := range closed {
		src.orders[o.OrderID] = o
	}
	taken, err := db.All[struct {
		OrderID uuid.UUID `db:"order_id"`
		Reason  *string   `db:"reason"`
		step
	}](ctx, tx.SQL, named("read_steps_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, s := range taken {
		s.ReasonSHA256 = textHash(s.Reason)
		src.steps[s.OrderID] = append(src.steps[s.OrderID], s.step)
	}
	moved, err := db.All[struct {
		OrderID uuid.UUID `db:"order_id"`
		transfer
	}](ctx, tx.SQL, named("read_transfers_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, t := range moved {
		src.transfers[t.OrderID] = append(src.transfers[t.OrderID], t.transfer)
	}
	bound, err := db.All[struct {
		use
		file
	}](ctx, tx.SQL, named("read_files_of_receipts"), db.IDs(ids))
	if err != nil {
		return err
	}
	for _, f := range bound {
		src.bound[f.use] = append(src.bound[f.use], f.file)
	}
	return nil
}

// history returns the steps of an order, oldest first.
func (src *sources) history(order uuid.UUID) []step { return append([]step{}, src.steps[order]...) }

// ledger returns the transactions of an order, oldest first.
func (src *sources) ledger(order uuid.UUID) []transfer {
	return append([]transfer{}, src.transfers[order]...)
}

// files returns the files of one kind that are bound to an order, in their order.
func (src *sources) files(order uuid.UUID, kind attachment.BoundKind) []file {
	return append([]file{}, src.bound[use{order, kind}]...)
}
