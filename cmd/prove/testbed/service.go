package testbed

import (
	"context"
	"sync"
	"syscall"

	"stoa/cmd/child"
)

// service is a process that faults end and start again. Its methods may be called from any goroutine.
type service struct {
	// launch starts the process and waits until it serves. The process outlives ctx.
	launch func(ctx context.Context) (*child.Process, error)

	mu      sync.Mutex
	process *child.Process
}

// Start starts the process and waits until it serves. It does nothing if another fault has started it again.
func (s *service) Start(ctx context.Context) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		select {
		case <-s.process.Ended():
		default:
			return nil
		}
	}
	s.process, err = s.launch(ctx)
	return err
}

// Stop ends the process gracefully.
func (s *service) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Stop()
}

// End sends a signal to the process and waits for its end. It does nothing for a process that could not be started again.
func (s *service) End(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.Signal(signal)
		<-s.process.Ended()
	}
}

// Signal sends a signal to the process.
func (s *service) Signal(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Signal(signal)
}
