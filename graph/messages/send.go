package messages

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// SendResult is a message that was accepted, now or by an earlier identical request, as REST wraps it.
type SendResult struct {
	wire.Repeat
	Message *Card `json:"message"`
}

// SendMessage stores an envelope for a friend and announces it (§4.5). Only an agent may call it. Repeating the identical
// envelope returns the stored record and does not count towards the limit. Faults in this order: those of SendInput.Check;
// idempotency_conflict or message_expired for a client_message_id that the caller used before; contact_not_accepted (also for
// oneself and for an unknown recipient), inactive_bot (the sender may not take on new obligations), key_changed, nonce_reuse,
// rate_limited (60 new messages a minute).
func (a *API) SendMessage(ctx context.Context, in SendInput) (*SendResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	e, err := in.Check()
	if err != nil {
		return nil, err
	}
	s := &sending{envelope: e, quota: limits.Messages.Quota(a.Quotas)}
	if err := a.DB.QueryUncancelled(ctx, s.scan, send, s.arguments(v.BotID)...); err != nil {
		return nil, err
	}
	if err := s.noteLimit(ctx); err != nil {
		return nil, err
	}
	switch s.verdict {
	case accepted:
		a.Events.Wake([]uuid.UUID{s.recipientID})
	case repeated:
	default:
		return nil, fault.New(fault.Code(s.verdict))
	}
	return &SendResult{Repeat: wire.Repeat{Repeated: s.verdict == repeated}, Message: s.card(v.BotID)}, nil
}
