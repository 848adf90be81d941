package rest

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// maxBody is the size of an ordinary JSON request in bytes (§8).
const maxBody = 64 << 10

// serve is the life of one request to a route.
func (s *server) serve(row route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.operate(w, r, row)
		asked := requestOf(r.Context())
		asked.limits.Headers(w.Header())
		if err != nil {
			s.countRefusals(&asked.limits)
			s.fail(w, r, err)
			return
		}
		if file, ok := answer.(*attachments.File); ok {
			s.serveFile(w, r, file)
			return
		}
		status := row.status
		if repeat, ok := answer.(interface{ IsRepeat() bool }); ok && repeat.IsRepeat() {
			status = http.StatusOK
		}
		s.reply(w, r, status, answer)
	})
}

// operate admits the caller, reads the body and calls the method, in that order. What the database may take of it is bounded
// altogether (db.RequestTimeout); the time in which a body arrives does not count, and an upload bounds each of its steps itself.
func (s *server) operate(w http.ResponseWriter, r *http.Request, row route) (any, error) {
	began := time.Now()
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer func() { cancel() }()
	if row.attach != nil {
		ctx = row.attach(ctx, r)
	}
	v, err := s.admit(ctx, r.Header, row.access, row.method != http.MethodGet)
	if err != nil {
		return nil, err
	}
	requestOf(ctx).caller = v
	if row.attempts != nil {
		if err := row.attempts(ctx); err != nil {
			return nil, err
		}
	}
	if row.body == none {
		return row.run(ctx, r, nil)
	}
	spent := time.Since(began)
	cancel()
	raw, err := readBody(w, r, row)
	if err != nil {
		return nil, err
	}
	if row.body == parts {
		return row.run(r.Context(), r, nil)
	}
	ctx, cancel = db.Bounded(r.Context(), db.RequestTimeout-spent)
	return row.run(ctx, r, raw)
}

// readBody returns the whole JSON body, nil for a route that reads none or reads it itself. Faults: unsupported_media_type,
// payload_too_large, those of a body that does not arrive (package httpserver), and the route's own code for one that is cut off or
// malformed.
func readBody(w http.ResponseWriter, r *http.Request, row route) ([]byte, error) {
	switch row.body {
	case none:
		return nil, nil
	case parts:
		return nil, receiveForm(r)
	}
	empty := r.ContentLength == 0
	if row.body == objectOrEmpty && r.ContentLength < 0 {
		empty = ended(r)
	}
	if !(empty && row.body == objectOrEmpty) && !isJSON(r.Header) {
		return nil, fault.New(fault.UnsupportedMediaType)
	}
	if r.ContentLength > maxBody {
		return nil, fault.New(fault.PayloadTooLarge)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, row.unreadable(err)
	}
	if len(raw) == 0 && row.body == objectOrEmpty {
		return []byte("{}"), nil
	}
	return raw, nil
}

// unreadable is the fault of a body that did not arrive whole.
func (row route) unreadable(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fault.New(fault.PayloadTooLarge)
	}
	if known := new(fault.Error); errors.As(err, &known) && known.Code != fault.InvalidInput {
		return known
	}
	refused := &wire.Error{Kind: wire.Syntax, Reason: "it ends early or does not follow its transfer coding"}
	if row.malformed != nil {
		return row.malformed(refused)
	}
	return fault.Body(fault.InvalidInput, refused)
}

// ended says whether a body whose length was not told is empty, and leaves it readable from its start.
func ended(r *http.Request) bool {
	ahead := bufio.NewReader(r.Body)
	_, err := ahead.Peek(1)
	r.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return errors.Is(err, io.EOF)
}

func isJSON(header http.Header) bool {
	types := header.Values("Content-Type")
	if header.Get("Content-Encoding") != "" || len(types) != 1 {
		return false
	}
	media, params, err := mime.ParseMediaType(types[0])
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}
