package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// serveFile answers with a file that the caller may read, or with the fault that kept it from that (§2.7).
func (s *server) serveFile(w http.ResponseWriter, r *http.Request, file *attachments.File) {
	if err := sendFile(w, r, file, uploadedAt(r)); err != nil {
		s.fail(w, r, err)
	}
}

// sendFile answers with a file of a time: whole, in ranges, or 304 if the client has it already. With an error nothing was sent.
func sendFile(w http.ResponseWriter, r *http.Request, file *attachments.File, at time.Time) error {
	if _, err := web.Precondition(r, `"`+file.Tag+`"`, at); err != nil {
		return unsent(w.Header(), err)
	}
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
	if ranges := satisfiableRanges(r, file.Size); ranges != "" {
		r.Header.Set("Range", ranges)
	} else {
		r.Header.Del("Range")
	}
	content := &fileReader{ctx: r.Context(), file: file}
	delayed := &delayedWriter{ResponseWriter: w}
	http.ServeContent(delayed, r, "", time.Time{}, content)
	if err := errors.Join(content.failed, content.Close()); err != nil && !delayed.sent {
		return unsent(w.Header(), err)
	}
	switch {
	case delayed.sent:
	case delayed.status == http.StatusRequestedRangeNotSatisfiable:
		return unsent(w.Header(), fault.New(fault.RangeNotSatisfiable))
	default:
		w.WriteHeader(delayed.status)
	}
	return nil
}

// uploadedAt returns when the file of a request was uploaded, or its export was asked for. Its id holds the time (a UUID of version 7). Its bytes never
// change.
func uploadedAt(r *http.Request) time.Time {
	id, err := uuid.Parse(cmp.Or(chi.URLParam(r, "attachment_id"), chi.URLParam(r, "export_id")))
	if err != nil || id.Version() != 7 {
		return time.Now()
	}
	return time.Unix(id.Time().UnixTime())
}

// unsent takes back the headers of a file that is not sent because of an error, which it returns. Content-Range holds the size if the range
// is at fault.
func unsent(h http.Header, err error) error {
	for _, name := range []string{
		"Content-Disposition", "Content-Security-Policy", "Cross-Origin-Resource-Policy", "ETag", "Accept-Ranges", "Last-Modified",
	} {
		h.Del(name)
	}
	if fault.From(err).Code != fault.RangeNotSatisfiable {
		h.Del("Content-Range")
	}
	h.Set("Cache-Control", "no-store")
	return err
}

// delayedWriter keeps the status back until there are bytes to send, so that a store that fails first still gets an error body.
type delayedWriter struct {
	http.ResponseWriter

	status int
	sent   bool
}

func (w *delayedWriter) WriteHeader(status int) { w.status = status }

func (w *delayedWriter) Write(p []byte) (int, error) {
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		return len(p), nil // the caller of sendFile writes the error body instead of this text
	}
	if !w.sent {
		w.sent = true
		w.ResponseWriter.WriteHeader(w.status)
	}
	return w.ResponseWriter.Write(p)
}

// fileReader is a file of the store as an io.ReadSeeker. It opens the file when it is first read.
type fileReader struct {
	ctx    context.Context //nolint:containedctx // an io.ReadSeeker has no other place for it
	file   *attachments.File
	offset int64
	reader io.ReadCloser
	failed error
}

func (c *fileReader) Read(p []byte) (int, error) {
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

func (c *fileReader) Seek(offset int64, whence int) (int64, error) {
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
func (c *fileReader) Close() error {
	if c.reader == nil {
		return nil
	}
	open := c.reader
	c.reader = nil
	return open.Close()
}

// maxRanges is how many ranges of one file a request may ask for; with more the whole file is sent.
const maxRanges = 8

// satisfiableRanges returns the Range header of a request for a file of that size as http.ServeContent understands it, or nothing where
// the whole file is to be sent: for another method than GET, another unit than bytes, and a header that is not valid (RFC 9110 section 14).
func satisfiableRanges(r *http.Request, size int64) string {
	header := r.Header.Values("Range")
	if r.Method != http.MethodGet || len(header) != 1 {
		return ""
	}
	unit, list, _ := strings.Cut(header[0], "=")
	parts := strings.Split(list, ",")
	if !strings.EqualFold(unit, "bytes") || len(parts) > maxRanges {
		return ""
	}
	var satisfiable []string
	for _, part := range parts {
		first, last, valid := parseRange(strings.Trim(part, " \t"), size)
		if !valid {
			return ""
		}
		if first < size && first <= last {
			satisfiable = append(satisfiable, strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(last, 10))
		}
	}
	// ServeContent answers 416 for a range that begins behind the end.
	return "bytes=" + cmp.Or(strings.Join(satisfiable, ","), strconv.FormatInt(size, 10)+"-")
}

// parseRange reads first-last, first- or -length, within a file of that size. No byte of it is in the file where first is not below
// size, or above last.
func parseRange(text string, size int64) (first, last int64, valid bool) {
	from, to, dash := strings.Cut(text, "-")
	if !dash || !isDigits(from) || !isDigits(to) || from+to == "" {
		return 0, 0, false
	}
	if from == "" {
		return size - min(parseSaturating(to), size), size - 1, true
	}
	if to == "" {
		return parseSaturating(from), size - 1, true
	}
	if lessDecimal(to, from) {
		return 0, 0, false
	}
	return parseSaturating(from), min(parseSaturating(to), size-1), true
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// parseSaturating is the number of some digits, or the largest int64 where it does not fit.
func parseSaturating(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64) // what is out of range is the largest
	return n
}

// lessDecimal compares numbers of any length.
func lessDecimal(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) < 0
}

// extValueChars are the characters beside letters and digits that RFC 8187 leaves unescaped.
const extValueChars = "!#$&+-.^_`|~"

// disposition is the Content-Disposition of a file to be saved: with a plain name, and beside it the real one where that is
// more than ASCII (RFC 6266).
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/%`, r) {
			return '_'
		}
		return r
	}, name)
	value := `attachment; filename="` + plain + `"`
	if plain == name {
		return value
	}
	var extended strings.Builder
	for _, b := range []byte(name) {
		if b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte(extValueChars, b) >= 0 {
			extended.WriteByte(b)
		} else {
			fmt.Fprintf(&extended, "%%%02X", b)
		}
	}
	return value + "; filename*=UTF-8''" + extended.String()
}
