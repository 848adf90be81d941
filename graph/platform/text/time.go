package text

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

var (
	// rfc3339 closes what time.Parse lets through: single-digit hours, a comma before the fraction, wild offsets.
	rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

	errTime = errors.New("must be an RFC 3339 time with an offset, such as 2026-11-21T02:03:04Z")
	errYear = errors.New("must lie in the years 0000 to 9999 UTC")
)

// Time reads an RFC 3339 time with its offset (`Z` or ±hh:mm) and returns it in UTC, digits finer than microseconds
// cut (contract §6). As the RFC has it, `t` and `z` may be lower case; a space for the `T`, a leap second, a date that
// no calendar has and a year beyond 9999 in UTC are refused.
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
