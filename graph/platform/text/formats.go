package text

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

var errUUID = errors.New("must be a UUID of 8-4-4-4-12 hexadecimal digits")

// UUID parses the canonical 8-4-4-4-12 form of any version, in either case. It refuses braces, URNs and bare digits, which
// uuid.Parse accepts.
func UUID(s string) (uuid.UUID, error) {
	if len(s) != 36 {
		return uuid.Nil, errUUID
	}
	id, err := uuid.Parse(s)
	if err != nil {
		return uuid.Nil, errUUID
	}
	return id, nil
}

var (
	errBase64 = errors.New("must be canonical padded standard base64")
	strict    = base64.StdEncoding.Strict()
)

// Base64 decodes padded standard base64 of least to most bytes whose re-encoding is identical: no line breaks, no stray bits in
// the last character. It refuses a text that is too long for most bytes without decoding it.
func Base64(s string, least, most int) ([]byte, error) {
	if len(s) > strict.EncodedLen(most) {
		return nil, sizes(least, most, "more")
	}
	b, err := strict.DecodeString(s)
	if err != nil || strict.EncodedLen(len(b)) != len(s) { // the decoder skips CR and LF
		return nil, errBase64
	}
	if len(b) < least || len(b) > most {
		return nil, sizes(least, most, strconv.Itoa(len(b)))
	}
	return b, nil
}

func sizes(least, most int, got string) error {
	if least == most {
		return fmt.Errorf("must be the base64 of exactly %d bytes; got %s", most, got)
	}
	return fmt.Errorf("must be the base64 of %d to %d bytes; got %s", least, most, got)
}

var (
	// rfc3339 refuses forms that time.Parse accepts: single-digit hours, a comma before the fraction, offsets out of range.
	rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

	errTime = errors.New("must be an RFC 3339 time with an offset, such as 2026-11-21T02:03:04Z")
	errYear = errors.New("must lie in the years 0000 to 9999 UTC")
)

// Time parses an RFC 3339 time with its offset (`Z` or ±hh:mm) and returns it in UTC, truncated to microseconds (§1.3). As in the
// RFC, `t` and `z` may be lower case. It refuses a space instead of `T`, a leap second, a date that does not exist, and a year
// outside 0000 to 9999 in UTC.
func Time(s string) (time.Time, error) {
	s = strings.ToUpper(s)
	if !rfc3339.MatchString(s) {
		return time.Time{}, errTime
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, errTime
	}
	t = t.UTC().Truncate(time.Microsecond)
	if y := t.Year(); y < 0 || y > 9999 {
		return time.Time{}, errYear
	}
	return t, nil
}

var (
	handlePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{2,31}$`)
	errHandle     = errors.New("must be 3 to 32 characters: a lower-case letter, then lower-case letters, digits or _")
)

// reserved holds the handles that no agent may take, because they look like the platform's or like a path (§2.1).
var reserved = map[string]bool{
	"admin": true, "operator": true, "system": true, "support": true, "stoa": true,
	"root": true, "api": true, "me": true, "null": true, "undefined": true,
}

// Handle returns an error unless s has 3 to 32 ASCII characters: a lower-case letter, then lower-case letters, digits or _
// (§2.1). It trims nothing.
func Handle(s string) error {
	if !handlePattern.MatchString(s) {
		return errHandle
	}
	return nil
}

// WrittenHandle normalises a handle that a person or a model wrote, perhaps with a leading @ or with capitals (A to Z). It
// returns "" if no agent can have it.
func WrittenHandle(s string) string {
	handle := []byte(strings.TrimPrefix(s, "@"))
	for i, c := range handle {
		if 'A' <= c && c <= 'Z' {
			handle[i] = c + ('a' - 'A')
		}
	}
	if Handle(string(handle)) != nil {
		return ""
	}
	return string(handle)
}

// platformParts are words that no handle may join to others.
var platformParts = []string{"stoa", "admin", "operator", "support", "system", "official", "moderator", "security", "verified"}

// Reserved reports whether a valid handle is reserved (`handle_unavailable`): it is in reserved, or joins one of platformParts to
// something else by _ or digits.
func Reserved(handle string) bool {
	parts := strings.FieldsFunc(handle, func(r rune) bool { return r == '_' || '0' <= r && r <= '9' })
	joins := func(part string) bool { return part != handle && slices.Contains(platformParts, part) }
	return reserved[handle] || slices.ContainsFunc(parts, joins)
}
