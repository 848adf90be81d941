package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
)

// serveFile sends bytes that the caller may have, whole or in ranges, unless it has them already.
func (s *server) serveFile(w http.ResponseWriter, r *http.Request, file *attachments.File) {
	h := w.Header()
	h.Set("Content-Type", file.MediaType)
	h.Set("Content-Disposition", disposition(file.Name))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("ETag", `"`+file.Tag+`"`)
	h.Add("Vary", "Authorization")
	if file.Public {
		h.Set("Cache-Control", "no-cache")
	}
	if ranges := rangeOf(r, file.Size); ranges != "" {
		r.Header.Set("Range", ranges)
	} else {
		r.Header.Del("Range")
	}
	content := &content{ctx: r.Context(), file: file}
	held := &heldWriter{ResponseWriter: w}
	http.ServeContent(held, r, "", time.Time{}, content)
	if err := errors.Join(content.failed, content.Close()); err != nil && !held.sent {
		s.failFile(w, r, err)
		return
	}
	refused, failed := fileRefusals[held.status]
	switch {
	case held.sent:
	case failed:
		s.failFile(w, r, fault.New(refused))
	default:
		w.WriteHeader(held.status)
	}
}

// fileRefusals are the faults of what http.ServeContent refuses.
var fileRefusals = map[int]fault.Code{
	http.StatusPreconditionFailed:           fault.PreconditionFailed,
	http.StatusRequestedRangeNotSatisfiable: fault.RangeNotSatisfiable,
}

// failFile answers with a fault after all; Content-Range tells the size where a range is to blame.
func (s *server) failFile(w http.ResponseWriter, r *http.Request, err error) {
	h := w.Header()
	for _, name := range []string{
		"Content-Disposition", "Content-Security-Policy", "Cross-Origin-Resource-Policy", "ETag", "Accept-Ranges", "Last-Modified",
	} {
		h.Del(name)
	}
	if fault.From(err).Code != fault.RangeNotSatisfiable {
		h.Del("Content-Range")
	}
	h.Set("Cache-Control", "no-store")
	s.fail(w, r, err)
}

// heldWriter keeps the status back until there are bytes to send, so that a store that fails first still gets an error body.
type heldWriter struct {
	http.ResponseWriter

	status int
	sent   bool
}

func (w *heldWriter) WriteHeader(status int) { w.status = status }

func (w *heldWriter) Write(p []byte) (int, error) {
	if _, refused := fileRefusals[w.status]; refused {
		return len(p), nil // it is no error body of §7
	}
	if !w.sent {
		w.sent = true
		w.ResponseWriter.WriteHeader(w.status)
	}
	return w.ResponseWriter.Write(p)
}

// content reads a file of the store from wherever it was sought; it opens nothing that is not read.
type content struct {
	ctx    context.Context //nolint:containedctx // an io.ReadSeeker has no other place for it
	file   *attachments.File
	offset int64
	reader io.ReadCloser
	failed error
}

func (c *content) Read(p []byte) (int, error) {
	if c.reader == nil {
		if c.reader, c.failed = c.file.Open(c.ctx, c.offset); c.failed != nil {
			return 0, c.failed
		}
	}
	n, err := c.reader.Read(p)
	c.offset += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
	return n, err
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.file.Size
	}
	if offset != c.offset {
		if err := c.Close(); err != nil {
			return c.offset, err
		}
		c.offset = offset
	}
	return offset, nil
}

// Close closes what is open; reading opens it again.
func (c *content) Close() error {
	if c.reader == nil {
		return nil
	}
	open := c.reader
	c.reader = nil
	return open.Close()
}
