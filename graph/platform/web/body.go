package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// RequireJSON returns unsupported_media_type unless a request announces JSON in UTF-8 without Content-Encoding (§1.3).
func RequireJSON(header http.Header) error {
	types := header.Values("Content-Type")
	if header.Get("Content-Encoding") != "" || len(types) != 1 {
		return fault.New(fault.UnsupportedMediaType)
	}
	media, params, err := mime.ParseMediaType(types[0])
	charset, named := params["charset"]
	if err != nil || media != JSONType || (named && !strings.EqualFold(charset, "utf-8")) {
		return fault.New(fault.UnsupportedMediaType)
	}
	return nil
}

// ReadBody reads a request body of at most limit bytes. It returns payload_too_large for a larger one, unread where its length was
// announced, and otherwise what BodyError says.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fault.New(fault.PayloadTooLarge)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, BodyError(err)
	}
	return raw, nil
}

// BodyError returns the fault of a request body that could not be read: payload_too_large, the fault of a body that does not
// arrive in time (package httpserver), or a *wire.Error for one that is cut off or malformed, for which a route may have its own
// code.
func BodyError(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fault.New(fault.PayloadTooLarge)
	}
	if known := new(fault.Error); errors.As(err, &known) && known.Code != fault.InvalidInput {
		return known
	}
	return &wire.Error{Kind: wire.Syntax, Reason: "it ends early or does not follow its transfer coding"}
}
