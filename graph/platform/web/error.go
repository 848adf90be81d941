package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// ErrorBody is the body of every failure (§7).
type ErrorBody struct {
	Error struct {
		Code    fault.Code        `json:"code"`
		Message string            `json:"message"`
		Fields  map[string]string `json:"fields,omitempty"`
	} `json:"error"`
}

// WriteError writes a fault as the error body of §7 with its status and headers. It returns an error if the fault cannot be
// encoded as JSON; the answer then has no body.
func WriteError(w http.ResponseWriter, known *fault.Error) error {
	ErrorHeaders(w.Header(), known)
	raw, err := ErrorJSON(known)
	WriteJSON(w, known.Status(), raw)
	return err
}

// ErrorJSON returns the error body of a fault.
func ErrorJSON(known *fault.Error) ([]byte, error) {
	var answer ErrorBody
	answer.Error.Code, answer.Error.Message, answer.Error.Fields = known.Code, known.Text(), known.Fields
	return wire.Marshal(answer)
}

// ErrorHeaders sets Retry-After if waiting helps, and WWW-Authenticate for unauthorized unless RefusalHeaders has already set it.
func ErrorHeaders(h http.Header, known *fault.Error) {
	if wait := known.Retry(); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if known.Code == fault.Unauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", challenge)
	}
}

const (
	challenge = `Bearer realm="stoa"`
	// WrongToken is the challenge to a client whose token is wrong (RFC 6750 §3).
	WrongToken = challenge + `, error="invalid_token"`
)

// NotAllowed returns the fault of a method that the path does not take, and sets its header; allow lists the allowed methods.
func NotAllowed(h http.Header, allow string) *fault.Error {
	h.Set("Allow", allow)
	return fault.New(fault.MethodNotAllowed).Say("This path takes only " + allow + ".")
}

// RefusalHeaders sets the headers of a refusal that depend on the request: whether the token was missing or wrong, and which form
// of body is accepted. accepted is the media type of bodies on this path.
func RefusalHeaders(h http.Header, r *http.Request, known *fault.Error, accepted string) {
	switch known.Code {
	case fault.Unauthorized:
		if _, sent := Bearer(r.Header); sent {
			h.Set("WWW-Authenticate", WrongToken)
		}
	case fault.UnsupportedMediaType:
		if r.Header.Get("Content-Encoding") != "" {
			h.Set("Accept-Encoding", "identity")
			return
		}
		h.Set("Accept", accepted)
		if r.Method == http.MethodPatch {
			h.Set("Accept-Patch", accepted)
		}
	}
}

// The media types of request bodies.
const (
	JSONType = "application/json"
	FormType = "multipart/form-data"
)

// LogFault logs a fault that operators must know about: an internal error or a ledger conflict as an error; unavailability as a
// warning, unless it is only that the client has hung up (Left). err is its cause.
func LogFault(ctx context.Context, log *slog.Logger, known *fault.Error, err error, attributes ...any) {
	attributes = append(attributes, "error", err)
	switch known.Code {
	case fault.InternalError, fault.LedgerConflict:
		log.ErrorContext(ctx, "request failed", attributes...)
	case fault.ServiceUnavailable, fault.RegistrationUnavailable:
		if !Left(ctx) {
			log.WarnContext(ctx, "request refused", attributes...)
		}
	}
}

// Left reports whether the client of a request has hung up. Its answer is service_unavailable, since its statement was cancelled.
func Left(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// WriteJSON writes an answer that is already JSON.
func WriteJSON(w http.ResponseWriter, status int, raw []byte) {
	w.Header()["Content-Type"] = jsonType
	WriteBody(w, status, raw)
}

var jsonType = []string{JSONType}

// WriteBody writes an answer whose Content-Type is already set.
func WriteBody(w http.ResponseWriter, status int, raw []byte) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(raw))}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}

// Kept is an answer that is kept in memory. Its status is 200 unless it is set.
type Kept struct {
	Status int
	Body   bytes.Buffer
	header http.Header
}

// Keep returns a writer that keeps an answer; its header is h.
func Keep(h http.Header) *Kept { return &Kept{Status: http.StatusOK, header: h} }

func (k *Kept) Header() http.Header         { return k.header }
func (k *Kept) WriteHeader(status int)      { k.Status = status }
func (k *Kept) Write(p []byte) (int, error) { return k.Body.Write(p) }
