package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/prove/history"
)

// sinceBackup is how long the load goes on between a backup and its restore.
const sinceBackup = 8 * time.Second

// backUp makes a backup while the load runs, and lets the load go on for a while.
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

// restore stops all servers gracefully and restores the backup; lifting it starts them again.
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
		var starting errgroup.Group
		for _, server := range s.Bed.Servers {
			starting.Go(func() error { return server.Start(ctx) })
		}
		err := errors.Join(starting.Wait(), awaitReady(ctx, s.Bed))
		s.Agents.Resume(ctx)
		if err == nil {
			err = s.Bed.Reconcile(ctx)
		}
		return err
	}, failed
}
