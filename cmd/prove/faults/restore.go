package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"stoa/cmd/prove/history"
)

// Agents are the agents of the run, as far as a restore concerns them.
type Agents interface {
	// Hold ends what agents could not go on with after a restore, such as changes of their tokens, and keeps them from it.
	Hold()
	// Forget has them forget the answers that they would make again. No server runs.
	Forget()
	// Resume has them find out which of their orders are left, and lets them go on.
	Resume(ctx context.Context)
}

// sinceBackup is how long the load goes on between a backup and its restore.
const sinceBackup = 8 * time.Second

// backUp makes a backup beside the load, and lets that go on for a while.
func backUp(ctx context.Context, s *Scene) error {
	s.Agents.Hold()
	s.loss = history.Loss{Begun: s.Recorder.Now()}
	err := s.Bed.Backup(ctx)
	s.loss.Made = s.Recorder.Now()
	if err == nil {
		err = wait(ctx, sinceBackup)
	}
	if err != nil {
		s.Agents.Resume(ctx)
	}
	return err
}

// restore ends all servers in order and restores the backup; lifting it starts them again.
func restore(ctx context.Context, s *Scene) (string, Lift, error) {
	s.loss.Stopped = s.Recorder.Now()
	var ending sync.WaitGroup
	for _, server := range s.Bed.Servers {
		ending.Go(server.Stop)
	}
	ending.Wait()
	s.Agents.Forget()
	failed := s.Bed.Restore(ctx)
	s.loss.Restored = s.Recorder.Now()
	s.Recorder.Record(func(h *history.History) { h.Losses = append(h.Losses, s.loss) })
	target := fmt.Sprintf("everything since %.0f s", s.loss.Begun.Seconds())
	return target, func(ctx context.Context) error {
		err := errors.Join(startAll(ctx, s), awaitReady(ctx, s.Bed))
		s.Agents.Resume(ctx)
		if err == nil {
			err = s.Bed.Reconcile(ctx)
		}
		return err
	}, failed
}
