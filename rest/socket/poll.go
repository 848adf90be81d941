package socket

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
)

// poll is a request that waits for events. It reads when it is woken, and is answered once.
type poll struct {
	hub  *Hub
	slot events.Slot
	// woken holds a token if there may be events; ended holds the reason if the poll must end.
	woken chan struct{}
	ended chan closeReason
}

// Poll returns the page of a poll that found nothing. It waits for events until the poll's time is over, its token ends or the
// Hub drains. If the client leaves, the page is empty. Faults: rate_limited, unauthorized, service_unavailable.
func (h *Hub) Poll(ctx context.Context, wait *events.Wait) (*events.Page, error) {
	p := &poll{hub: h, woken: make(chan struct{}, 1), ended: make(chan closeReason, 1)}
	refused := h.admit(ctx, wait.Agent, p)
	if refused != nil {
		h.counts.closed(refused.code)
		return answer(nil, *refused, nil)
	}
	p.schedule(pending{fetch: true}) // an event before the registration did not wake the poll
	found, reason, failed := p.wait(ctx, wait)
	h.unregister(p) // before the answer, so that a client that has it can poll again
	h.finished(p, reason)
	return answer(found, reason, failed)
}

// wait waits for events, and returns them or the reason why it stopped. failed is the error of the last read.
func (p *poll) wait(ctx context.Context, wait *events.Wait) (found *events.Page, reason closeReason, failed error) {
	over := time.NewTimer(wait.Length)
	defer over.Stop()
	var retry <-chan time.Time
	for pause := firstWait; ; {
		select {
		case <-p.woken:
		case <-retry:
		case <-over.C:
			return nil, errAnswered, failed
		case reason = <-p.ended:
			return nil, reason, failed
		case <-ctx.Done():
			return nil, errBroken, nil
		case <-p.hub.ctx.Done():
			return nil, errAway, nil
		}
		found, failed = events.ReadPage(ctx, wait.Cursor, p.hub.fetch)
		switch {
		case failed != nil:
			p.hub.warnLimited("event poll cannot read", failed)
			retry, pause = time.After(pause), min(2*pause, longWait)
		case len(found.Events) > 0:
			p.hub.counts.delivered.Add(int64(len(found.Events)))
			return found, errAnswered, nil
		}
	}
}

// answer returns the page or the fault of a poll that ended for a reason.
func answer(found *events.Page, reason closeReason, failed error) (*events.Page, error) {
	switch {
	case found != nil:
		return found, nil
	case reason != errAnswered && reason != errDraining && reason != errBroken:
		return nil, faultOf(reason)
	case failed != nil:
		return nil, fault.Wrap(fault.ServiceUnavailable, failed)
	}
	return &events.Page{Events: []*events.Card{}}, nil
}

func (p *poll) place() *events.Slot { return &p.slot }

func (p *poll) schedule(work pending) {
	if work.fetch || work.recheck {
		notify(p.woken)
	}
}

// settle implements receiver: a poll that waits has received nothing.
func (*poll) settle([]uuid.UUID) {}

func (p *poll) close(reason closeReason) {
	select {
	case p.ended <- reason:
	default:
	}
}
