package orders

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/once"
	"stoa/graph/platform/viewer"
)

// created is the name of an order's first step in the history.
const created = "create"

// createSnapshot holds the facts that decide an offer, read by one statement.
type createSnapshot struct {
	once.Stored
	// Now is the database clock.
	Now     time.Time `db:"now"`
	Friends bool      `db:"friends"`
	Active  bool      `db:"active"`
	FeeBps  int64     `db:"fee_bps"`
	// Listed reports whether the service that the offer names is one of the contractor's in the catalogue.
	Listed bool `db:"listed"`
	// Gone reports that the counterpart is unknown or deleted.
	Gone        bool          `db:"gone"`
	Caller      bots.BriefRow `db:"caller"`
	Counterpart bots.BriefRow `db:"counterpart"`
}

// CreateOrder offers a friend an order, as its customer or as its contractor; nothing is reserved yet (§3.1, §4.7). Only an
// agent may call it. The order of checks: the form of the fields (invalid_input), the stored result of an identical request or
// idempotency_conflict, a passed deadline or a total over 10^12 (invalid_input), not_found for an unknown counterpart or a
// service that is not the contractor's or not in the catalogue, invalid_attachment, friendship_required (also for oneself),
// participant_inactive, attachment_already_bound, price_changed.
func (a *API) CreateOrder(ctx context.Context, in CreateInput) (*OrderResult, error) {
	v, f, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	op, err := once.NewRequest(v.BotID, f.operationID, created, uuid.Nil, in)
	if err != nil {
		return nil, err
	}
	id := newID()
	run := once.Attempt[OrderResult]
	if len(f.files) > 0 {
		run = once.Do[OrderResult]
	}
	return run(ctx, a.DB, named("lock_for_create"), []any{v.BotID, f.counterpart, op.ID}, func(ctx context.Context, tx *db.Tx) (*OrderResult, error) {
		return a.decideCreate(ctx, tx, f, id, op)
	})
}

// decideCreate reads the snapshot of an offer, decides, and writes.
func (a *API) decideCreate(ctx context.Context, tx *db.Tx, f offer, id uuid.UUID, op once.Request) (*OrderResult, error) {
	read, err := db.One[createSnapshot](ctx, tx.SQL, named("select_for_create"), op.Agent, f.counterpart, op.ID, f.serviceID, f.contractor(op.Agent))
	if err != nil {
		return nil, err
	}
	if made, err := once.Repeated[OrderResult](op, read.Stored); made != nil || err != nil {
		return made, err
	}
	q, err := f.price(read)
	if err != nil {
		return nil, err
	}
	s := &snapshot{row: row{Card: Card{ID: id}}, Now: read.Now}
	files := s.bindFiles(ctx, tx, op.Agent, s.inputsTarget(), f.files)
	switch {
	case files != nil && !errors.Is(files, fault.New(fault.AttachmentAlreadyBound)): // that fault comes after the next two
		return nil, files
	case f.counterpart == op.Agent:
		return nil, fault.New(friends.refusal).Say("You cannot offer an order to yourself.")
	case !read.Friends:
		return nil, fault.New(friends.refusal)
	case !read.Active:
		return nil, fault.New(bothActive.refusal)
	case files != nil:
		return nil, files
	case f.confirmedTotal != nil && *f.confirmedTotal != q.TotalMinor:
		return nil, PriceChanged(q.TotalMinor)
	}
	s.Customer, s.Contractor = read.Counterpart, read.Caller
	if f.byCustomer {
		s.Customer, s.Contractor = read.Caller, read.Counterpart
	}
	s.Card = Card{
		ID: id, CreatedAt: s.Now, UpdatedAt: s.Now, State: string(order.StateOffered), Version: 1,
		CustomerID: s.Customer.ID, ContractorID: s.Contractor.ID, AuthorID: op.Agent,
		Title: f.title, Description: f.description, Deadline: f.deadline,
		AmountMinor: q.AmountMinor, FeeMinor: q.FeeMinor, TotalMinor: q.TotalMinor, FeeBps: q.FeeBps, ServiceID: f.serviceID,
	}
	if f.byCustomer {
		s.ConfirmedTotalMinor = f.confirmedTotal
	}
	return a.commit(ctx, tx, named("open_order"), true, s, step{action: created, by: op.Agent, at: s.Now}, op, posting{})
}

// price returns the price of an offer. It checks the deadline before the price, and the counterpart and the service after it.
func (f offer) price(read *createSnapshot) (Quote, error) {
	if !f.deadline.After(read.Now) {
		return Quote{}, fault.Field(fault.InvalidInput, "deadline", input.ErrPast.Error())
	}
	q, err := Price(f.amountMinor, read.FeeBps)
	if err == nil && read.Gone {
		err = fault.New(fault.NotFound).Say("There is no such agent.")
	}
	if err == nil && f.serviceID != nil && !read.Listed {
		err = fault.Field(fault.NotFound, "service_id", "is no service of the contractor").Say("The contractor offers no such service.")
	}
	return q, err
}

// maxTotalMinor is the largest full reserve in minor units (§2.6).
const maxTotalMinor int64 = 1_000_000_000_000

// 100 % in basis points, and half of it, which makes a division round half up.
const (
	wholeBps = 10_000
	halfBps  = wholeBps / 2
)

// Quote is the price of a contractor's reward, in minor units (§2.6).
type Quote struct {
	AmountMinor int64 `json:"amount_minor"`
	FeeMinor    int64 `json:"fee_minor"`
	TotalMinor  int64 `json:"total_minor"`
	// FeeBps is the fee rate in basis points of the reward.
	FeeBps int64 `json:"fee_bps"`
}

// Price adds the fee to a reward of 1 or more. It refuses an amount over maxTotalMinor before it multiplies, so nothing overflows
// at a rate of up to 100 %; then it refuses a total over maxTotalMinor. Faults: invalid_input.
func Price(amountMinor, feeBps int64) (Quote, error) {
	q := Quote{AmountMinor: amountMinor, FeeBps: feeBps}
	if amountMinor <= maxTotalMinor {
		q.FeeMinor = Fee(amountMinor, feeBps)
		q.TotalMinor = amountMinor + q.FeeMinor
	}
	if q.TotalMinor < 1 || q.TotalMinor > maxTotalMinor {
		return Quote{}, fault.Field(fault.InvalidInput, "amount_minor", errTotal.Error())
	}
	return q, nil
}

// Fee returns the fee of a reward of at most 10^12, rounded half up.
func Fee(amountMinor, feeBps int64) int64 { return (amountMinor*feeBps + halfBps) / wholeBps }

// QuoteInput is the body of a request for a quote.
type QuoteInput struct {
	AmountMinor *int64 `json:"amount_minor"`
}

// check returns invalid_input naming the field that is wrong.
func (in QuoteInput) check() (int64, error) {
	f := input.New()
	return f.Count("amount_minor", in.AmountMinor), f.Fault(fault.InvalidInput)
}

// QuoteResult is a quote, as REST wraps it.
type QuoteResult struct {
	Quote *Quote `json:"quote"`
}

// QuoteOrder returns the price of an order at the present fee rate; it reserves nothing and is not binding (§4.7). Only an agent
// may call it. Faults: invalid_input.
func (a *API) QuoteOrder(ctx context.Context, in QuoteInput) (*QuoteResult, error) {
	_, amount, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	settings, err := a.DB.Ent.Setting.Query().Only(ctx)
	if err != nil {
		return nil, err
	}
	q, err := Price(amount, settings.FeeBps)
	if err != nil {
		return nil, err
	}
	return &QuoteResult{Quote: &q}, nil
}

// PriceChanged returns the fault of a confirmed total that differs from totalMinor, the current total.
func PriceChanged(totalMinor int64) *fault.Error {
	return fault.Field(fault.PriceChanged, "confirmed_total_minor", "must be "+strconv.FormatInt(totalMinor, 10))
}
