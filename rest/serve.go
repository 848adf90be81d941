package rest

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/fault"
)

const (
	// maxBody is the size of an ordinary JSON request (§8).
	maxBody = 64 << 10
	// bodyTimeout is how long a body may take to arrive.
	bodyTimeout = 15 * time.Second
)

// serve is the life of one request to a route.
func (s *server) serve(row route) http.Handler {
	mutating := row.method != http.MethodGet
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, asked := r.Context(), requestOf(r.Context())
		var (
			raw    []byte
			unread error
		)
		if row.ahead != nil {
			if raw, unread = readBody(w, r, row.body); unread == nil {
				ctx = row.ahead(ctx, r, raw)
			}
		}
		v, err := s.admit(ctx, r.Header, row.access, mutating)
		if err == nil {
			asked.caller = v
			if row.attempts != nil {
				err = row.attempts(ctx)
			}
		}
		if err == nil && row.ahead == nil {
			raw, unread = readBody(w, r, row.body)
		}
		var answer any
		if err = cmp.Or(err, unread); err == nil {
			answer, err = row.run(ctx, r, raw)
		}
		asked.limits.Headers(w.Header())
		if err != nil {
			s.countRefusals(&asked.limits)
			if row.body == parts {
				linger(w, r)
			}
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

// readBody returns the whole JSON body, nil for a route that reads none or reads it itself.
func readBody(w http.ResponseWriter, r *http.Request, kind body) ([]byte, error) {
	switch kind {
	case none:
		return nil, nil
	case parts:
		return nil, receiveForm(w, r)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // a writer without deadlines is a test's
	empty := r.ContentLength == 0
	if kind == objectOrEmpty && r.ContentLength < 0 {
		empty = ended(r)
	}
	if !(empty && kind == objectOrEmpty) && !isJSON(r.Header) {
		return nil, fault.New(fault.UnsupportedMediaType)
	}
	if r.ContentLength > maxBody {
		return nil, fault.New(fault.PayloadTooLarge)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(unobserved(w), r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.New(fault.PayloadTooLarge)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fault.New(fault.RequestTimeout)
	case err != nil:
		return nil, fault.Wrap(fault.RequestTimeout, err)
	}
	if len(raw) == 0 && kind == objectOrEmpty {
		return []byte("{}"), nil
	}
	return raw, nil
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
