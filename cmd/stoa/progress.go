package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	unknownTotal = -1 // of work of unknown length

	terminalInterval = time.Second
	logInterval      = 10 * time.Second
)

// progress shows how far a command is. Work of less than a second shows nothing. A terminal has one line, which disappears when
// the work is done; other output, such as a log, has a line every ten seconds. Its methods may be called from any goroutine.
type progress struct {
	what  string
	bytes bool
	total int64
	done  atomic.Int64
	ended chan struct{}
	shown sync.WaitGroup
}

// startProgress begins to show work, such as "copying files". total and the sizes of add are bytes or steps.
func startProgress(to io.Writer, terminal bool, what string, total int64, bytes bool) *progress {
	w := &progress{what: what, bytes: bytes, total: total, ended: make(chan struct{})}
	began, interval, wipe, end := time.Now(), logInterval, "", "\n"
	if terminal {
		interval, wipe, end = terminalInterval, "\r\x1b[2K", ""
	}
	w.shown.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-w.ended:
				_, _ = io.WriteString(to, wipe) // the terminal may be closed, here and below
				return
			case <-ticker.C:
				_, _ = io.WriteString(to, wipe+w.line(time.Since(began))+end)
			}
		}
	})
	return w
}

// add counts n more bytes or steps as done.
func (w *progress) add(n int64) { w.done.Add(n) }

// end stops showing the work. Call it once.
func (w *progress) end() {
	close(w.ended)
	w.shown.Wait()
}

// line returns the work's line.
func (w *progress) line(after time.Duration) string {
	text := fmt.Sprintf("%s: %d s", w.what, int(after.Seconds()))
	done := w.done.Load()
	switch {
	case done == 0:
		return text
	case w.bytes:
		return fmt.Sprintf("%s, %d MB", text, done/1_000_000)
	case w.total == unknownTotal:
		return fmt.Sprintf("%s, %d", text, done)
	}
	return fmt.Sprintf("%s, %d of %d", text, done, w.total)
}
