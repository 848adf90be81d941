package operatorcli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/stoa/operatorcli/client"
)

// age writes in one unit how long ago a time is, or how far ahead.
func age(now, then time.Time) string {
	d, ahead := now.Sub(then), ""
	if d < 0 {
		d, ahead = -d, "in "
	}
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}} {
		if d >= unit.size {
			return fmt.Sprintf("%s%d%s", ahead, d/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%s%ds", ahead, d/time.Second)
}

// ago is age from now on.
func ago(then time.Time) string { return age(time.Now(), then) }

// formatTime writes a time in the machine's time zone.
func formatTime(then time.Time) string {
	return then.Local().Format("2006-01-02 15:04:05 MST") //nolint:gosmopolitan // the operator's own clock
}

func deref(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

// parseTime reads a time: RFC 3339, a date, or a duration back from now such as 36h or 7d.
func parseTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateOnly} {
		if found, err := time.ParseInLocation(layout, text, time.Local); err == nil { //nolint:gosmopolitan // as above
			return found.UTC(), nil
		}
	}
	back, err := parseDuration(text)
	if err != nil {
		return time.Time{}, &client.UsageError{
			Text: fmt.Sprintf("%q is neither a time such as 2026-11-21T12:00:00Z, a date, nor a duration such as 36h or 7d", text),
		}
	}
	return now.Add(-back).UTC().Truncate(time.Second), nil
}

// parseFuture reads a time as parseTime does, but a duration counts from now on.
func parseFuture(text string, now time.Time) (time.Time, error) {
	if ahead, err := parseDuration(text); err == nil {
		return now.Add(ahead).UTC().Truncate(time.Second), nil
	}
	return parseTime(text, now)
}

// parseDuration reads a duration such as 90m, 36h or 7d.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = strconv.ErrRange
	}
	return d, err
}
