// Package fault lists all errors that callers see.
//
// A domain returns fault.New(code); the HTTP status, the message and the retry hint come from the table in this file, for REST,
// GraphQL and the event socket alike (§7). From classifies all other errors: a lost or overloaded database is
// service_unavailable; an unknown error is internal_error, whose cause is logged and never shown.
package fault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/lib/pq"

	"stoa/ent"
	"stoa/graph/platform/bounds"
)

// Code is the machine-readable name of a fault on the wire (§7).
type Code string

// row is a code as every transport shows it. retry is the hint for temporary faults.
type row struct {
	status  int
	message string
	retry   time.Duration
}

var table = make(map[Code]row)

// define adds a row to the table.
func define(code Code, status int, message string, retry time.Duration) Code {
	table[code] = row{status, message, retry}
	return code
}

// The codes of §7 and of the generic request errors, each with its status, its message, and the retry hint if waiting helps.
var (
	InvalidInput               = define("invalid_input", 400, "The request is not valid.", 0)
	InvalidFields              = define("invalid_fields", 400, "The upload is not valid.", 0)
	InvalidFile                = define("invalid_file", 400, "The file is not of a permitted kind.", 0)
	InvalidID                  = define("invalid_id", 400, "An id must be a UUID such as 0190a5d4-7c1e-7000-8000-0123456789ab.", 0)
	InvalidPagination          = define("invalid_pagination", 400, "The paging parameters are not valid.", 0)
	InvalidSearch              = define("invalid_search", 400, "The search parameters are not valid.", 0)
	InvalidKind                = define("invalid_kind", 400, "kind must be update or portfolio.", 0)
	InvalidText                = define("invalid_text", 400, "text must be 1 to "+strconv.Itoa(bounds.Text)+" characters, without control characters except tabs and line breaks.", 0)
	InvalidTitle               = define("invalid_title", 400, "title must be one line of at most "+strconv.Itoa(bounds.Title)+" characters, without control characters.", 0)
	InvalidVisibility          = define("invalid_visibility", 400, "visibility must be private or public; public needs an open profile.", 0)
	InvalidField               = define("invalid_field", 400, "A field is not valid.", 0)
	UnknownFields              = define("unknown_fields", 400, "The request has fields that do not exist here.", 0)
	InvalidEnvelope            = define("invalid_envelope", 400, "The message envelope is not valid.", 0)
	EncryptedEnvelopeRequired  = define("encrypted_envelope_required", 400, "Send an encrypted envelope; plaintext is never accepted.", 0)
	UnsupportedEncryption      = define("unsupported_encryption", 400, "encryption_version must be box-v1.", 0)
	InvalidInvitation          = define("invalid_invitation", 400, "The invitation is missing, unknown, spent or expired.", 0)
	RightsRequired             = define("rights_required", 400, "rights_confirmed must be true to attach files.", 0)
	PublicationRightsRequired  = define("publication_rights_required", 400, "rights_confirmed must be true to publish files.", 0)
	Unauthorized               = define("unauthorized", 401, "A valid token is required: Authorization: Bearer TOKEN.", 0)
	FriendshipRequired         = define("friendship_required", 403, "Only accepted friends may do this: ask for friendship first.", 0)
	Forbidden                  = define("forbidden", 403, "You may not do this.", 0)
	CounterpartyRequired       = define("counterparty_required", 403, "Only the other participant may do this.", 0)
	ContactNotAccepted         = define("contact_not_accepted", 403, "The recipient is not an accepted contact.", 0)
	SelfContact                = define("self_contact", 403, "You cannot be your own contact.", 0)
	ContactBlocked             = define("contact_blocked", 403, "The contact is blocked.", 0)
	RecipientRequired          = define("recipient_required", 403, "Only the recipient of the request may accept it.", 0)
	NotFound                   = define("not_found", 404, "There is nothing here that you can see.", 0)
	InvalidAttachment          = define("invalid_attachment", 404, "The attachment does not exist or cannot be used here.", 0)
	MethodNotAllowed           = define("method_not_allowed", 405, "This path does not take that method.", 0)
	RequestTimeout             = define("request_timeout", 408, "The request did not arrive in time.", 0)
	HandleUnavailable          = define("handle_unavailable", 409, "The handle is taken or reserved.", 0)
	VersionConflict            = define("version_conflict", 409, "The order has changed; read it again and decide anew.", 0)
	PriceChanged               = define("price_changed", 409, "confirmed_total_minor is not the total; fields says what it must be.", 0)
	StateConflict              = define("state_conflict", 409, "The present state does not allow this.", 0)
	InsufficientFunds          = define("insufficient_funds", 409, "The customer's available balance does not cover the total.", 0)
	LedgerConflict             = define("ledger_conflict", 409, "The ledger refused the posting; nothing was changed.", 0)
	IdempotencyConflict        = define("idempotency_conflict", 409, "The same id was used before with other data; take a new id.", 0)
	AttachmentAlreadyBound     = define("attachment_already_bound", 409, "The attachment is already used elsewhere.", 0)
	ImmutableAttachments       = define("immutable_attachments", 409, "The files of an order are fixed and cannot be changed.", 0)
	UploadUnavailable          = define("upload_unavailable", 409, "This upload_id is unfinished or was rejected.", 0)
	NonceReuse                 = define("nonce_reuse", 409, "The nonce was used before; encrypt again with a fresh one.", 0)
	KeyChanged                 = define("key_changed", 409, "A public key is not the registered one.", 0)
	MessageExpired             = define("message_expired", 409, "The message of this client_message_id has expired.", 0)
	DeadlinePassed             = define("deadline_passed", 409, "The deadline has passed.", 0)
	ParticipantInactive        = define("participant_inactive", 409, "A participant is not active.", 0)
	RefundProposalExists       = define("refund_proposal_exists", 409, "A refund has already been proposed.", 0)
	RefundNotProposed          = define("refund_not_proposed", 409, "No refund has been proposed.", 0)
	InactiveBot                = define("inactive_bot", 409, "The agent is not active.", 0)
	RegistrationReplayConflict = define("registration_replay_conflict", 409, "This proof was already used with other fields.", 0)
	PreconditionFailed         = define("precondition_failed", 412, "The file is not the one that If-Match names.", 0)
	PayloadTooLarge            = define("payload_too_large", 413, "The body is too large.", 0)
	UnsupportedMediaType       = define("unsupported_media_type", 415, "Send Content-Type: application/json in UTF-8 without Content-Encoding.", 0)
	RangeNotSatisfiable        = define("range_not_satisfiable", 416, "The range lies outside the file.", 0)
	ExpectationFailed          = define("expectation_failed", 417, "The only expectation known here is 100-continue.", 0)
	UpgradeRequired            = define("upgrade_required", 426, "This is a WebSocket endpoint.", 0)
	WriteLimited               = define("write_limited", 429, "Too many changes in a minute.", time.Minute)
	RegistrationLimited        = define("registration_limited", 429, "Too many registrations.", time.Hour)
	RateLimited                = define("rate_limited", 429, "Too many requests.", time.Minute)
	UploadBusy                 = define("upload_busy", 429, "Too many files are being inspected.", 5*time.Second)
	StorageQuotaExceeded       = define("storage_quota_exceeded", 429, "The storage budget is used up.", time.Hour)
	StorageRecordLimit         = define("storage_record_limit", 429, "The number of uploads over all time is used up.", 24*time.Hour)
	HeaderFieldsTooLarge       = define("header_fields_too_large", 431, "The request headers are too large.", 0)
	InternalError              = define("internal_error", 500, "Something went wrong here; the request id helps the operator find it.", 0)
	RegistrationUnavailable    = define("registration_unavailable", 503, "Registration is not possible at the moment.", 30*time.Second)
	VerificationSetupPending   = define("verification_setup_pending", 503, "The operator has not finished setting up email verification.", time.Hour)
	LifecycleSetupPending      = define("lifecycle_setup_pending", 503, "The operator has not enabled this.", time.Hour)
	ServiceUnavailable         = define("service_unavailable", 503, "The service is not available at the moment.", 2*time.Second)
)

// Codes lists every code, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(table)) }

// unavailableStates holds the SQLSTATE classes and codes of a database that is down, starting, stopping or overloaded, and of
// cancelled statements. The caller should retry later, as after every FATAL error, which refuses or ends a session.
var unavailableStates = map[string]bool{
	"08": true, "53": true, "57": true, "58": true,
	"40001": true, "40P01": true, "55P03": true, "25006": true,
}

// refusals maps the SQLSTATEs with which database functions refuse a change. Their message is for the client, their detail is
// Retry-After in seconds.
var refusals = map[string]Code{"ST001": WriteLimited, "ST002": StorageQuotaExceeded}

// From classifies any error. It returns a fault unchanged. Any other error becomes the cause of service_unavailable, not_found,
// internal_error or one of refusals. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	if refused := pq.As(err); refused != nil && refusals[string(refused.Code)] != "" {
		seconds, _ := strconv.ParseFloat(refused.Detail, 64) // empty if waiting does not help
		return Wrap(refusals[string(refused.Code)], err).Say(refused.Message).After(time.Duration(math.Ceil(seconds)) * time.Second)
	}
	return &Error{Code: classify(err), cause: err}
}

// CodeOf is the code of From(err), or "" if err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}

func classify(err error) Code {
	_, network := errors.AsType[*net.OpError](err)
	switch refused := pq.As(err); {
	case ent.IsNotFound(err), errors.Is(err, sql.ErrNoRows):
		return NotFound
	case refused != nil:
		if refused.Severity == "FATAL" || unavailableStates[string(refused.Code)] || unavailableStates[string(refused.Code.Class())] {
			return ServiceUnavailable
		}
	case network, errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ServiceUnavailable
	}
	return InternalError
}
