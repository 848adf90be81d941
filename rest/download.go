package rest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// sendFile answers with a file of the time at: the whole file, ranges, or 304 if the client has it. On error it sends nothing.
func sendFile(w http.ResponseWriter, r *http.Request, file *attachments.File, at time.Time) error {
	h, tag := w.Header(), `"`+file.Tag+`"`
	known, err := web.Precondition(r, tag, at)
	if err != nil {
		return err
	}
	if of := r.Header.Get("If-Range"); of != "" && of != tag {
		r.Header.Del("Range")
	}
	ranges := satisfiableRanges(r, file.Size)
	if ranges == beyond(file.Size) && !known {
		h.Set("Content-Range", "bytes */"+strconv.FormatInt(file.Size, 10))
		return fault.New(fault.RangeNotSatisfiable)
	}
	if ranges == "" {
		r.Header.Del("Range")
	} else {
		r.Header.Set("Range", ranges)
	}
	var content io.ReadSeekCloser
	if !known {
		if content, err = file.Open(r.Context(), 0); err != nil {
			return err
		}
		defer content.Close()
	}
	h.Set("Content-Disposition", disposition(file.Name))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("ETag", tag)
	h.Add("Vary", "Authorization")
	if file.Public {
		h.Set("Cache-Control", "no-cache")
	}
	if known {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", file.MediaType)
	http.ServeContent(w, r, "", time.Time{}, content)
	return nil
}

// uploadedAt returns when the file of a request was uploaded or its export was requested. The id, a UUID of version 7, holds the
// time. The bytes never change.
func uploadedAt(r *http.Request) time.Time {
	id, err := uuid.Parse(cmp.Or(chi.URLParam(r, "attachment_id"), chi.URLParam(r, "export_id")))
	if err != nil || id.Version() != 7 {
		return time.Now()
	}
	return time.Unix(id.Time().UnixTime())
}

// byteRange matches first-last, first- or -length, without the zeros at the beginning of a number.
var byteRange = regexp.MustCompile(`^[ \t]*(?:0*(\d+))?-(?:0*(\d+))?[ \t]*$`)

// maxRanges is the maximum number of ranges in a request; a request with more ranges gets the whole file.
const maxRanges = 8

// satisfiableRanges returns the Range header for http.ServeContent. It is empty if the whole file is sent: if the method is not
// GET, the unit is not bytes, there are more than maxRanges ranges, or the header is not valid (RFC 9110 section 14).
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
		found := byteRange.FindStringSubmatch(part)
		if found == nil || found[1]+found[2] == "" {
			return ""
		}
		from, to := found[1], found[2]
		first, _ := strconv.ParseInt(from, 10, 64) // a number that does not fit becomes the largest number
		last, _ := strconv.ParseInt(to, 10, 64)
		switch {
		case from == "":
			first, last = size-min(last, size), size-1
		case to == "":
			last = size - 1
		case cmp.Or(cmp.Compare(len(to), len(from)), strings.Compare(to, from)) < 0: // numbers of any length
			return ""
		}
		if last = min(last, size-1); first < size && first <= last {
			satisfiable = append(satisfiable, strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(last, 10))
		}
	}
	if satisfiable == nil {
		return beyond(size)
	}
	return "bytes=" + strings.Join(satisfiable, ",")
}

// beyond returns the range that satisfiableRanges returns if no requested byte is in a file of the given size.
func beyond(size int64) string { return "bytes=" + strconv.FormatInt(size, 10) + "-" }

// extValueChars are the characters, besides letters and digits, that RFC 8187 leaves unescaped.
const extValueChars = "!#$&+-.^_`|~"

// disposition returns the Content-Disposition of a file to be saved: with a plain ASCII name and, if the real name differs, also
// with the real name (RFC 6266).
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
