package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Within a second nothing is shown; afterwards a terminal has a line, and a log a line every ten seconds.
func TestProgressIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		takes    time.Duration
		lines    int
		shows    string
	}{
		"short on a terminal": {true, 900 * time.Millisecond, 0, ""},
		"short in a log":      {false, 9 * time.Second, 0, ""},
		"long on a terminal":  {true, 3 * time.Second, 0, "seeding"},
		"long in a log":       {false, 31 * time.Second, 3, "seeding: 30 s, 7 of 9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var to bytes.Buffer
				w := startProgress(&to, c.terminal, "seeding", 9, false)
				w.add(7)
				time.Sleep(c.takes)
				w.end()
				require.Equal(t, c.lines, strings.Count(to.String(), "\n"), to.String())
				require.Contains(t, to.String(), c.shows)
				if c.shows == "" {
					require.Empty(t, strings.Trim(to.String(), "\r\x1b[2K "))
				}
			})
		})
	}
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]*progress{
		"copying: 12 s":        {what: "copying", bytes: true},
		"copying: 12 s, 34 MB": {what: "copying", bytes: true, total: unknownTotal},
	} {
		if strings.Contains(want, "MB") {
			w.add(34_500_000)
		}
		require.Equal(t, want, w.line(12*time.Second))
	}
}
