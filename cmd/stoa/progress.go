package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	unknownTotal = -1 // of work whose end is not known ahead

	barDelay     = time.Second
	lineInterval = 10 * time.Second
)

// progress shows how far a command is. Work of less than a second shows nothing. On a terminal there is a bar, which goes when
// the work is done; elsewhere, as in a log, a line every ten seconds. Its methods may be called from any goroutine.
type progress struct {
	what  string
	bytes bool
	done  atomic.Int64
	total int64
	bar   *progressbar.ProgressBar // nil where to is no terminal
	to    io.Writer
	began time.Time
	ended chan struct{}
	shown sync.WaitGroup
}

// startProgress begins to show work, such as "copying files". total and the sizes of add are bytes or steps.
func startProgress(to io.Writer, terminal bool, what string, total int64, bytes bool) *progress {
	w := &progress{what: what, bytes: bytes, total: total, to: to, began: time.Now(), ended: make(chan struct{})}
	interval := lineInterval
	if terminal {
		interval = barDelay
		w.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(to), progressbar.OptionSetDescription(what),
			progressbar.OptionShowBytes(bytes), progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetRenderBlankState(false), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20))
	}
	w.shown.Go(func() { w.show(interval) })
	return w
}

// add says that n bytes or steps more are done.
func (w *progress) add(n int64) { w.done.Add(n) }

// end stops to show the work. Call it once.
func (w *progress) end() {
	close(w.ended)
	w.shown.Wait()
	if w.bar != nil {
		_ = w.bar.Clear() // a terminal that is gone needs none
	}
}

func (w *progress) show(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-w.ended:
			return
		case <-ticker.C:
		}
		if w.bar != nil {
			_ = w.bar.Set64(w.done.Load()) // as above
			continue
		}
		fmt.Fprintln(w.to, w.line(time.Since(w.began)))
	}
}

// line returns the work's line for a log.
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
