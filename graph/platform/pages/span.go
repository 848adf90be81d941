package pages

import (
	"fmt"
	"time"
)

// units of durations, from the largest down.
var units = []struct {
	length time.Duration
	name   string
}{
	{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"},
}

// Span is a duration in its largest unit, such as "3 hours"; empty below a minute.
func Span(d time.Duration) string {
	for _, unit := range units {
		if d >= unit.length {
			return Count(int(d/unit.length), unit.name)
		}
	}
	return ""
}

// Count is a number with its noun: "1 response", "2 responses".
func Count(n any, of string) string { return fmt.Sprint(n) + " " + Noun(n, of) }

// Noun is the singular or the plural that goes with a number.
func Noun(n any, of string) string {
	if fmt.Sprint(n) == "1" {
		return of
	}
	return of + "s"
}
