package fault_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// Every code of §7, with the status the specification gives it.
var statuses = map[int][]fault.Code{
	400: {"invalid_input", "invalid_fields", "invalid_file", "invalid_id", "invalid_pagination", "invalid_search", "invalid_kind",
		"invalid_text", "invalid_title", "invalid_visibility", "invalid_field", "unknown_fields", "invalid_envelope",
		"encrypted_envelope_required", "unsupported_encryption", "invalid_invitation", "rights_required", "publication_rights_required"},
	401: {"unauthorized"},
	403: {"friendship_required", "forbidden", "counterparty_required", "contact_not_accepted", "self_contact", "contact_blocked", "recipient_required"},
	404: {"not_found", "invalid_attachment"},
	405: {"method_not_allowed"},
	408: {"request_timeout"},
	409: {"handle_unavailable", "version_conflict", "price_changed", "state_conflict", "insufficient_funds", "ledger_conflict",
		"idempotency_conflict", "attachment_already_bound", "immutable_attachments", "upload_unavailable", "nonce_reuse", "key_changed",
		"message_expired", "deadline_passed", "participant_inactive", "refund_proposal_exists", "refund_not_proposed", "inactive_bot",
		"registration_replay_conflict"},
	412: {"precondition_failed"},
	413: {"payload_too_large"},
	415: {"unsupported_media_type"},
	416: {"range_not_satisfiable"},
	417: {"expectation_failed"},
	426: {"upgrade_required"},
	429: {"write_limited", "registration_limited", "rate_limited", "upload_busy", "storage_quota_exceeded", "storage_record_limit"},
	431: {"header_fields_too_large"},
	500: {"internal_error"},
	503: {"registration_unavailable", "verification_setup_pending", "lifecycle_setup_pending", "service_unavailable"},
}

func TestTableAgreesWithTheSpecification(t *testing.T) {
	t.Parallel()
	for status, codes := range statuses {
		for _, code := range codes {
			e := fault.New(code)
			require.Equal(t, status, e.Status(), code)
			require.NotEmpty(t, e.Text(), code)
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				require.GreaterOrEqual(t, e.Retry(), time.Second, code)
			} else {
				require.Zero(t, e.Retry(), code)
			}
		}
	}
}

func TestFrom(t *testing.T) {
	t.Parallel()
	require.Nil(t, fault.From(nil))
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{fmt.Errorf("while: %w", fault.New(fault.NonceReuse)), fault.NonceReuse},
		{sql.ErrNoRows, fault.NotFound},
		{&pq.Error{Code: "57P01", Severity: "FATAL"}, fault.ServiceUnavailable},
		{&pq.Error{Code: "57014"}, fault.ServiceUnavailable},
		{&pq.Error{Code: "53300"}, fault.ServiceUnavailable},
		{&pq.Error{Code: "40P01"}, fault.ServiceUnavailable},
		{&pq.Error{Code: "25006"}, fault.ServiceUnavailable},
		{&pq.Error{Code: "28P01", Severity: "FATAL"}, fault.ServiceUnavailable},
		{&pq.Error{Code: "42P01"}, fault.InternalError},
		{&pq.Error{Code: "23505"}, fault.InternalError},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, fault.ServiceUnavailable},
		{driver.ErrBadConn, fault.ServiceUnavailable},
		{io.ErrUnexpectedEOF, fault.ServiceUnavailable},
		{context.DeadlineExceeded, fault.ServiceUnavailable},
		{errors.New("a defect"), fault.InternalError},
	} {
		known := fault.From(c.err)
		require.Equal(t, c.want, known.Code, "%v", c.err)
		require.NotContains(t, known.Text(), c.err.Error())
	}
}

func TestFieldsBlameEachFieldOnce(t *testing.T) {
	t.Parallel()
	wrong := fault.Fields{}
	require.NoError(t, wrong.Fault(fault.InvalidInput))
	wrong.Add("a", nil)
	wrong.Add("b", errors.New("first"))
	wrong.Add("b", errors.New("second"))
	known := fault.From(wrong.Fault(fault.InvalidTitle))
	require.Equal(t, map[string]string{"b": "first"}, known.Fields)
	require.ErrorIs(t, known, fault.New(fault.InvalidTitle))
	require.NotErrorIs(t, known, fault.New(fault.InvalidText))
}

func TestSayAndAfterLeaveTheOriginal(t *testing.T) {
	t.Parallel()
	limited := fault.New(fault.RateLimited)
	other := limited.Say("Slow down.").After(3 * time.Second)
	require.Equal(t, "Slow down.", other.Text())
	require.Equal(t, 3*time.Second, other.Retry())
	require.Equal(t, time.Minute, limited.Retry())
	require.NotEqual(t, limited.Text(), other.Text())
}

func TestBodyBlamesTheField(t *testing.T) {
	t.Parallel()
	whole := fault.Body(fault.InvalidID, &wire.Error{Kind: wire.Syntax, Reason: "is cut off"})
	require.Empty(t, whole.Fields)
	require.Contains(t, whole.Text(), "is cut off")
	one := fault.Body(fault.InvalidID, &wire.Error{Kind: wire.Unknown, Field: "extra", Reason: "does not exist"})
	require.Equal(t, map[string]string{"extra": "does not exist"}, one.Fields)
	require.Equal(t, fault.New(fault.UnknownFields).Text(), one.Text(), "the text of invalid_id would blame an id that is right")
	twice := fault.Body(fault.InvalidID, &wire.Error{Kind: wire.Syntax, Field: "recipient_id", Reason: "appears twice in one object"})
	require.Equal(t, "The body cannot be read: recipient_id appears twice in one object.", twice.Text())
	typed := fault.Body(fault.InvalidID, &wire.Error{Kind: wire.Type, Field: "recipient_id", Reason: "must be a string"})
	require.Equal(t, fault.New(fault.InvalidID).Text(), typed.Text())
}
