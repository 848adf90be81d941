package soak

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/cmd/bench/load"
	"stoa/cmd/prove/mix"
)

// result is that of ten minutes in which server-2 holds on to goroutines, if it leaks.
func result(leaks bool) *Result {
	r := &Result{
		Plan: Plan{Processes: 2, Rate: 100, Length: 10 * time.Minute}, Agents: 1000, Knee: 300, Load: load.Sample{Elapsed: time.Minute},
		Heard: new(mix.Heard), Failures: new(mix.Failures), servers: []string{"server-1", "server-2"},
	}
	for at := time.Duration(0); at <= r.Length; at += interval {
		s := sample{at: at, values: make(map[string]float64), tables: map[string]table{"events": {live: 5, bytes: mebibyte, changes: at.Seconds()}}}
		for _, m := range measures {
			names, _ := m.names(r.servers)
			for _, name := range names {
				s.values[name] = 100 * max(m.scale, 1)
			}
		}
		if leaks {
			s.values[goroutines+" of server-2"] += at.Seconds()
		}
		r.samples = append(r.samples, s)
	}
	before := writes{rows: map[string]float64{"messages": 5, "message_guards": 7}, done: map[string]int{mix.Messages: 2}}
	after := writes{rows: map[string]float64{"messages": 15, "message_guards": 17}, done: map[string]int{mix.Messages: 12}}
	r.judge(before, after)
	return r
}

func TestChapter(t *testing.T) {
	t.Parallel()
	r := result(false)
	require.NoError(t, r.Err())
	c, err := r.Chapter()
	require.NoError(t, err)
	for _, part := range []string{
		"## Hours of load\n", "**All that must be flat is flat", "| goroutines of server-2 | 100 | 100 | 100 | +0.00 | 20 | flat |",
		"| messages | 10 messages | 1 | 10 | as written |", "](proof-soak.svg)",
	} {
		require.Contains(t, c.Text, part)
	}
	for _, none := range []string{"NaN", "Inf", "%!", "<no value>", "\n\n\n"} {
		require.NotContains(t, c.Text, none)
		require.NotContains(t, c.Chart, none)
	}
	require.Equal(t, 15, strings.Count(c.Chart, `class="title"`))
	for line := range strings.Lines(c.Text) {
		require.True(t, strings.HasPrefix(line, "|") || utf8.RuneCountInString(line) <= 131, line)
	}
}

// What grows, what was not written, and what failed each is an error, and in the chapter.
func TestFaults(t *testing.T) {
	t.Parallel()
	r := result(true)
	r.Failures.Add(context.DeadlineExceeded)
	r.Growths[0].Rows++
	require.Equal(t, []string{
		"goroutines of server-2: grows by 3600 an hour", "attachments: 1 more after 0 uploads", "1 requests or sockets failed",
	}, r.Faults())
	require.ErrorContains(t, r.Err(), "goroutines of server-2")
	c, err := r.Chapter()
	require.NoError(t, err)
	require.Contains(t, c.Text, "**Not as it must be:**\n\n- goroutines of server-2: grows by 3600 an hour\n")
	require.Contains(t, c.Text, "deadline exceeded")
	require.NotContains(t, c.Text, "All that must be flat")
}
