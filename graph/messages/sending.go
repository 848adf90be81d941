package messages

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/limits"
	"stoa/graph/ride"
)

// The verdicts of stoa_send that are no fault's code.
const (
	accepted = "accepted"
	repeated = "repeated"
)

// sendText is the whole of a send behind the form of its envelope: it locks the contact, applies the rules, and writes message,
// guard and announcement. It is one function in the database (migrate/sql/0003_messages.sql), because this is the busiest
// write there is and every further round trip would hold the contact's lock for its length; and a function rather than one
// query, because its statements see what others commit while it waits for them, so that races need no second call.
const sendText = `
SELECT verdict, id, contact_id, created_at, expires_at, remaining, reset_after
FROM stoa_send([1], [2], [me], [3], [4], [5], [6], [7], [8], [9], make_interval(secs => [10]), [11], [12], make_interval(secs => [13]))`

// The statement by itself, and as it rides on the admission of its sender.
var (
	sendAlone   = sendBy("$1", 1)
	sendingRide = ride.NewChange(sendBy("me.id", 2), len(new(sending).targets()))
)

// sendBy is the statement for the agent me, with its arguments numbered behind so many others.
func sendBy(me string, others int) string {
	s := new(sending)
	pairs := []string{"[me]", me}
	for i := range s.arguments() {
		pairs = append(pairs, "["+strconv.Itoa(i+1)+"]", "$"+strconv.Itoa(others+i+1))
	}
	return strings.NewReplacer(pairs...).Replace(sendText)
}

// sending is one send: the envelope, and what the database says of it.
type sending struct {
	envelope

	quota int

	verdict              string
	id, contactID        uuid.NullUUID
	createdAt, expiresAt sql.Null[time.Time]
	remaining            sql.Null[int]
	resetAfter           sql.Null[float64]
}

func (a *API) newSending(e envelope) *sending {
	return &sending{envelope: e, quota: limits.Messages.Quota(a.Quotas)}
}

// arguments of sendText but its sender, in their order.
func (s *sending) arguments() []any {
	return []any{
		uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), s.recipientID, s.clientMessageID, s.nonce, s.ciphertext, Version, s.senderKey,
		s.recipientKey, Retention.Seconds(), limits.Messages.Name, s.quota, limits.Messages.Span.Seconds(),
	}
}

// targets of its columns, in their order.
func (s *sending) targets() []any {
	return []any{&s.verdict, &s.id, &s.contactID, &s.createdAt, &s.expiresAt, &s.remaining, &s.resetAfter}
}

// Next is ride's to call.
func (s *sending) Next(row []any) { copy(row, s.targets()) }

// noteLimit tells the request what is left of the limit, where the message was counted; rate_limited over it.
func (s *sending) noteLimit(ctx context.Context) error {
	if !s.remaining.Valid || s.quota == 0 {
		return nil
	}
	taken := limits.Taken{
		Limit: limits.Messages, Quota: s.quota, Allowed: s.verdict == accepted, Remaining: s.remaining.V,
		Reset: limits.Seconds(s.resetAfter.V),
	}
	limits.Note(ctx, taken)
	return taken.Fault()
}

// card is the message that was accepted.
func (s *sending) card(senderID uuid.UUID) *Card {
	return &Card{
		ID: s.id.UUID, ContactID: s.contactID.UUID, ClientMessageID: s.clientMessageID, SenderID: senderID, RecipientID: s.recipientID,
		Nonce: s.nonce, Ciphertext: s.ciphertext, EncryptionVersion: Version, SenderPublicKey: s.senderKey,
		RecipientPublicKey: s.recipientKey, SizeBytes: len(s.ciphertext), CreatedAt: s.createdAt.V, ExpiresAt: s.expiresAt.V,
	}
}
