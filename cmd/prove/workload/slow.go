package workload

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

const (
	// slowAgents is how many agents do nothing but send files slowly.
	slowAgents = 2
	// slowSide is the size of their pictures in points, about 600 KB: a body must bring 160 KiB in 10 s (§1.8).
	slowSide = 440
	// shortestUpload and longestUpload are how long a file is under way, slowPiece the time between two pieces of it.
	shortestUpload = 10 * time.Second
	longestUpload  = 20 * time.Second
	slowPiece      = 100 * time.Millisecond
	// slowPause is the mean time between two of these uploads.
	slowPause = time.Second
)

// newSlow registers the agents that send files slowly.
func (w *Workload) newSlow(ctx context.Context) error {
	for i := range slowAgents {
		a, err := w.newAgent(ctx, fmt.Sprintf("slow_%d", i))
		if err != nil {
			return err
		}
		w.slow = append(w.slow, a)
	}
	return nil
}

// uploadSlowly sends one file after the other in small pieces, until ctx ends. What is not taken is sent again at once, as a client
// does whose server has gone.
func (a *Agent) uploadSlowly(ctx context.Context) {
	for a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(slowPause))) {
		r := upload(uuid.NewString(), noise(a.random, slowSide), "slow.png")
		slowly := r
		slowly.pace = shortestUpload + time.Duration(a.random.Int64N(int64(longestUpload-shortestUpload)))
		slowly.announced = a.random.IntN(2) == 0
		if got := a.once(ctx, slowly); !got.succeeded() {
			a.repeat(ctx, r)
		}
	}
}

// drip is a body that comes in small pieces; the rest of it at once when ctx ends.
type drip struct {
	ctx  context.Context //nolint:containedctx // a reader has no other way to learn of its end
	rest []byte
	// piece is how many bytes come at a time, pause the time before them.
	piece int
	pause time.Duration
}

func newDrip(ctx context.Context, body []byte, pace time.Duration) *drip {
	pieces := min(len(body), int(pace/slowPiece))
	return &drip{ctx, body, len(body) / pieces, pace / time.Duration(pieces)}
}

// Read implements io.Reader.
func (d *drip) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	size := d.piece
	timer := time.NewTimer(d.pause)
	defer timer.Stop()
	select {
	case <-d.ctx.Done():
		size = len(d.rest)
	case <-timer.C:
	}
	n := copy(p, d.rest[:min(size, len(d.rest))])
	d.rest = d.rest[n:]
	return n, nil
}
