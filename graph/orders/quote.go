package orders

import (
	"context"
	"strconv"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/viewer"
)

// maxTotalMinor is the largest full reserve in minor units (§2.6).
const maxTotalMinor int64 = 1_000_000_000_000

// The whole in basis points, and its half, with which a division rounds half up.
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

// Price adds the fee to a reward of 1 or more. It refuses amounts beyond the largest total before it multiplies, so at a rate
// of up to 100 % nothing overflows, and then totals beyond it. Faults: invalid_input.
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

// PriceChanged returns the fault of a confirmed total that differs from the current total of the price.
func PriceChanged(totalMinor int64) *fault.Error {
	return fault.Field(fault.PriceChanged, "confirmed_total_minor", "must be "+strconv.FormatInt(totalMinor, 10))
}
