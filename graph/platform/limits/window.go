package limits

import (
	"math"
	"sync"
	"time"
)

// Window counts events by a key in this process, in a window of time that slides: of the events of the window before, it counts
// the share that the present one has not replaced yet. It is safe for concurrent use.
type Window struct {
	length time.Duration
	most   int

	mu            sync.Mutex
	began         time.Time
	now, previous map[string]int
}

// NewWindow makes a window in which a key may have most events.
func NewWindow(most int, length time.Duration) *Window {
	return &Window{length: length, most: most, began: time.Now(), now: make(map[string]int)}
}

// Add counts an event, and returns the number of the key's events in the window. If they are more than most, the event is
// refused, and does not count later.
func (w *Window) Add(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	age := time.Since(w.began)
	if age >= w.length {
		w.previous, w.now = w.now, make(map[string]int)
		if age >= 2*w.length {
			w.previous = nil
		}
		w.began, age = time.Now().Add(-age%w.length), age%w.length
	}
	left := float64(w.length-age) / float64(w.length)
	count := int(math.Round(float64(w.previous[key])*left)) + w.now[key] + 1
	if count <= w.most {
		w.now[key]++
	}
	return count
}
