package attachments

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"stoa/graph/platform/fault"
)

const (
	// firstRetry and lastRetry bound the wait between two attempts to reach a database that is away.
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
	// inForeground is how long a request waits for what it gives back; after that the attempts go on without it.
	inForeground = time.Second
)

// persist calls do until it succeeds, fails for another reason than a database that is away, or ctx ends. do may be called again
// after a commit whose answer was lost, so doing it twice must do no harm.
func persist(ctx context.Context, do func(context.Context) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = firstRetry, lastRetry
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do(ctx)
		if err != nil && fault.From(err).Code != fault.ServiceUnavailable {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
	return err
}

// giveBack persists in do for as long as a lease lasts, whatever becomes of ctx. It returns when do has succeeded, or failed for
// good, but at most a second later: by then the attempts go on in the background. What is still held when they end, expires by
// itself.
func giveBack(ctx context.Context, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	done := make(chan struct{})
	go func() {
		defer cancel()
		defer close(done)
		_ = persist(ctx, do) // the lease expires
	}()
	select {
	case <-done:
	case <-time.After(inForeground):
	}
}
