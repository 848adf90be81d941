package pages

import (
	"fmt"
	"time"
)

// units of durations, from the largest down.
var units = []struct {
	length time.Duration
	// short is the name after a number where there is little room.
	name, short string
}{
	{365 * 24 * time.Hour, "year", "y"}, {30 * 24 * time.Hour, "month", "mo"}, {24 * time.Hour, "day", "d"}, {time.Hour, "hour", "h"},
	{time.Minute, "minute", "min"},
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

// ShortSpan is Span where there is little room, such as "3 h".
func ShortSpan(d time.Duration) string {
	for _, unit := range units {
		if d >= unit.length {
			return fmt.Sprintf("%d %s", d/unit.length, unit.short)
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
