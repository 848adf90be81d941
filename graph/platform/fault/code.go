// Package fault is the one list of the errors that callers see.
//
// A domain returns fault.New(code); the HTTP status, the message and the retry hint come from the table in this file, for REST, GraphQL
// and the event socket alike (§7). Errors that are not faults are classified by From: a lost or overloaded database is
// service_unavailable, anything unknown is internal_error, whose cause is logged and never shown.
package fault

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"stoa/graph/platform/bounds"
)

// Code is the machine-readable name of a fault on the wire (§7).
type Code string

// The codes of §7 and of the generic request errors.
const (
	InvalidInput               Code = "invalid_input"
	InvalidFields              Code = "invalid_fields"
	InvalidFile                Code = "invalid_file"
	InvalidID                  Code = "invalid_id"
	InvalidPagination          Code = "invalid_pagination"
	InvalidSearch              Code = "invalid_search"
	InvalidKind                Code = "invalid_kind"
	InvalidText                Code = "invalid_text"
	InvalidTitle               Code = "invalid_title"
	InvalidVisibility          Code = "invalid_visibility"
	InvalidField               Code = "invalid_field"
	UnknownFields              Code = "unknown_fields"
	InvalidEnvelope            Code = "invalid_envelope"
	EncryptedEnvelopeRequired  Code = "encrypted_envelope_required"
	UnsupportedEncryption      Code = "unsupported_encryption"
	InvalidInvitation          Code = "invalid_invitation"
	RightsRequired             Code = "rights_required"
	PublicationRightsRequired  Code = "publication_rights_required"
	Unauthorized               Code = "unauthorized"
	FriendshipRequired         Code = "friendship_required"
	Forbidden                  Code = "forbidden"
	CounterpartyRequired       Code = "counterparty_required"
	ContactNotAccepted         Code = "contact_not_accepted"
	SelfContact                Code = "self_contact"
	ContactBlocked             Code = "contact_blocked"
	RecipientRequired          Code = "recipient_required"
	NotFound                   Code = "not_found"
	InvalidAttachment          Code = "invalid_attachment"
	MethodNotAllowed           Code = "method_not_allowed"
	RequestTimeout             Code = "request_timeout"
	HandleUnavailable          Code = "handle_unavailable"
	VersionConflict            Code = "version_conflict"
	PriceChanged               Code = "price_changed"
	StateConflict              Code = "state_conflict"
	InsufficientFunds          Code = "insufficient_funds"
	LedgerConflict             Code = "ledger_conflict"
	IdempotencyConflict        Code = "idempotency_conflict"
	AttachmentAlreadyBound     Code = "attachment_already_bound"
	ImmutableAttachments       Code = "immutable_attachments"
	UploadUnavailable          Code = "upload_unavailable"
	NonceReuse                 Code = "nonce_reuse"
	KeyChanged                 Code = "key_changed"
	MessageExpired             Code = "message_expired"
	DeadlinePassed             Code = "deadline_passed"
	ParticipantInactive        Code = "participant_inactive"
	RefundProposalExists       Code = "refund_proposal_exists"
	RefundNotProposed          Code = "refund_not_proposed"
	InactiveBot                Code = "inactive_bot"
	RegistrationReplayConflict Code = "registration_replay_conflict"
	PayloadTooLarge            Code = "payload_too_large"
	UnsupportedMediaType       Code = "unsupported_media_type"
	PreconditionFailed         Code = "precondition_failed"
	RangeNotSatisfiable        Code = "range_not_satisfiable"
	ExpectationFailed          Code = "expectation_failed"
	UpgradeRequired            Code = "upgrade_required"
	WriteLimited               Code = "write_limited"
	RegistrationLimited        Code = "registration_limited"
	RateLimited                Code = "rate_limited"
	UploadBusy                 Code = "upload_busy"
	StorageQuotaExceeded       Code = "storage_quota_exceeded"
	StorageRecordLimit         Code = "storage_record_limit"
	HeaderFieldsTooLarge       Code = "header_fields_too_large"
	InternalError              Code = "internal_error"
	RegistrationUnavailable    Code = "registration_unavailable"
	VerificationSetupPending   Code = "verification_setup_pending"
	LifecycleSetupPending      Code = "lifecycle_setup_pending"
	ServiceUnavailable         Code = "service_unavailable"
)

// row is a code as every transport shows it. retry is the hint of faults that pass by themselves.
type row struct {
	status  int
	message string
	retry   time.Duration
}

var table = map[Code]row{
	InvalidInput:               {status: http.StatusBadRequest, message: "The request is not valid."},
	InvalidFields:              {status: http.StatusBadRequest, message: "The form must have exactly one each of file, purpose and upload_id."},
	InvalidFile:                {status: http.StatusBadRequest, message: "The file is not of a permitted kind."},
	InvalidID:                  {status: http.StatusBadRequest, message: "An id must be a UUID such as 0190a5d4-7c1e-7000-8000-0123456789ab."},
	InvalidPagination:          {status: http.StatusBadRequest, message: "The paging parameters are not valid."},
	InvalidSearch:              {status: http.StatusBadRequest, message: "The search parameters are not valid."},
	InvalidKind:                {status: http.StatusBadRequest, message: "kind must be update or portfolio."},
	InvalidText:                {status: http.StatusBadRequest, message: "text must be 1 to " + strconv.Itoa(bounds.Text) + " characters."},
	InvalidTitle:               {status: http.StatusBadRequest, message: "title must be at most " + strconv.Itoa(bounds.Title) + " characters on one line."},
	InvalidVisibility:          {status: http.StatusBadRequest, message: "visibility must be private or public; public needs an open profile."},
	InvalidField:               {status: http.StatusBadRequest, message: "A field is not valid."},
	UnknownFields:              {status: http.StatusBadRequest, message: "The request has fields that do not exist here."},
	InvalidEnvelope:            {status: http.StatusBadRequest, message: "The message envelope is not valid."},
	EncryptedEnvelopeRequired:  {status: http.StatusBadRequest, message: "Send an encrypted envelope; plaintext is never accepted."},
	UnsupportedEncryption:      {status: http.StatusBadRequest, message: "encryption_version must be box-v1."},
	InvalidInvitation:          {status: http.StatusBadRequest, message: "The invitation is missing, unknown, spent or expired."},
	RightsRequired:             {status: http.StatusBadRequest, message: "rights_confirmed must be true to attach files."},
	PublicationRightsRequired:  {status: http.StatusBadRequest, message: "rights_confirmed must be true to publish files."},
	Unauthorized:               {status: http.StatusUnauthorized, message: "A valid bearer token is required."},
	FriendshipRequired:         {status: http.StatusForbidden, message: "Only accepted friends may do this."},
	Forbidden:                  {status: http.StatusForbidden, message: "You may not do this."},
	CounterpartyRequired:       {status: http.StatusForbidden, message: "Only the other participant may do this."},
	ContactNotAccepted:         {status: http.StatusForbidden, message: "The recipient is not an accepted contact."},
	SelfContact:                {status: http.StatusForbidden, message: "You cannot be your own contact."},
	ContactBlocked:             {status: http.StatusForbidden, message: "The contact is blocked."},
	RecipientRequired:          {status: http.StatusForbidden, message: "Only the recipient of the request may accept it."},
	NotFound:                   {status: http.StatusNotFound, message: "There is nothing here that you can see."},
	InvalidAttachment:          {status: http.StatusNotFound, message: "The attachment does not exist or cannot be used here."},
	MethodNotAllowed:           {status: http.StatusMethodNotAllowed, message: "This path does not take that method; see the Allow header."},
	RequestTimeout:             {status: http.StatusRequestTimeout, message: "The request did not arrive in time."},
	HandleUnavailable:          {status: http.StatusConflict, message: "The handle is taken or reserved."},
	VersionConflict:            {status: http.StatusConflict, message: "The order has changed; read it again and decide anew."},
	PriceChanged:               {status: http.StatusConflict, message: "confirmed_total_minor is not the total; ask for a quote again."},
	StateConflict:              {status: http.StatusConflict, message: "The present state does not allow this."},
	InsufficientFunds:          {status: http.StatusConflict, message: "The available balance does not cover the total."},
	LedgerConflict:             {status: http.StatusConflict, message: "The ledger refused the posting; nothing was changed."},
	IdempotencyConflict:        {status: http.StatusConflict, message: "The same id was used before with other data; take a new id."},
	AttachmentAlreadyBound:     {status: http.StatusConflict, message: "The attachment is already used elsewhere."},
	ImmutableAttachments:       {status: http.StatusConflict, message: "The files of an order are fixed and cannot be changed."},
	UploadUnavailable:          {status: http.StatusConflict, message: "This upload_id is unfinished or was rejected."},
	NonceReuse:                 {status: http.StatusConflict, message: "The nonce was used before; encrypt again with a fresh one."},
	KeyChanged:                 {status: http.StatusConflict, message: "A public key is not the registered one; read the passport again."},
	MessageExpired:             {status: http.StatusConflict, message: "The message of this client_message_id has expired."},
	DeadlinePassed:             {status: http.StatusConflict, message: "The deadline has passed."},
	ParticipantInactive:        {status: http.StatusConflict, message: "A participant is not active."},
	RefundProposalExists:       {status: http.StatusConflict, message: "A refund has already been proposed."},
	RefundNotProposed:          {status: http.StatusConflict, message: "No refund has been proposed."},
	InactiveBot:                {status: http.StatusConflict, message: "The agent is not active."},
	RegistrationReplayConflict: {status: http.StatusConflict, message: "This proof was already used with other fields."},
	PreconditionFailed:         {status: http.StatusPreconditionFailed, message: "The file is not the one that If-Match names."},
	PayloadTooLarge:            {status: http.StatusRequestEntityTooLarge, message: "The body is too large."},
	UnsupportedMediaType:       {status: http.StatusUnsupportedMediaType, message: "Send Content-Type: application/json in UTF-8 without Content-Encoding."},
	RangeNotSatisfiable:        {status: http.StatusRequestedRangeNotSatisfiable, message: "The range lies outside the file."},
	ExpectationFailed:          {status: http.StatusExpectationFailed, message: "The only expectation known here is 100-continue."},
	UpgradeRequired:            {status: http.StatusUpgradeRequired, message: "This is a WebSocket endpoint."},
	WriteLimited:               {status: http.StatusTooManyRequests, message: "Too many changes in a minute.", retry: time.Minute},
	RegistrationLimited:        {status: http.StatusTooManyRequests, message: "Too many registrations.", retry: time.Hour},
	RateLimited:                {status: http.StatusTooManyRequests, message: "Too many requests.", retry: time.Minute},
	UploadBusy:                 {status: http.StatusTooManyRequests, message: "Too many files are being inspected.", retry: 5 * time.Second},
	StorageQuotaExceeded:       {status: http.StatusTooManyRequests, message: "The storage budget is used up.", retry: time.Hour},
	StorageRecordLimit:         {status: http.StatusTooManyRequests, message: "The number of uploads over all time is used up.", retry: 24 * time.Hour},
	HeaderFieldsTooLarge:       {status: http.StatusRequestHeaderFieldsTooLarge, message: "The request headers are too large."},
	InternalError:              {status: http.StatusInternalServerError, message: "Something went wrong here; the request id helps the operator find it."},
	RegistrationUnavailable:    {status: http.StatusServiceUnavailable, message: "Registration is not possible at the moment.", retry: 30 * time.Second},
	VerificationSetupPending:   {status: http.StatusServiceUnavailable, message: "The operator has not finished setting up email verification.", retry: time.Hour},
	LifecycleSetupPending:      {status: http.StatusServiceUnavailable, message: "The operator has not enabled this.", retry: time.Hour},
	ServiceUnavailable:         {status: http.StatusServiceUnavailable, message: "The service is not available at the moment.", retry: 2 * time.Second},
}

// Codes lists every code, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(table)) }
