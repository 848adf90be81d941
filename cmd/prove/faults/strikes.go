package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// sinceBackup is how long the load goes on between a backup and its restore.
const sinceBackup = 8 * time.Second

// backUp makes a backup while the load runs, and lets the load go on for a while.
func backUp(ctx context.Context, s *Scene) error {
	s.Agents.Hold()
	s.loss = history.Loss{Begun: s.Recorder.Now()}
	err := s.Bed.Backup(ctx)
	if err == nil {
		err = testbed.Wait(ctx, sinceBackup)
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

// slowClientsEach is how many clients of each kind there are.
const slowClientsEach = 66

// slowClients connects misbehaving clients to the servers directly, because the load balancer would shield them. Lifting it ends
// them.
func slowClients(ctx context.Context, bed *testbed.Bed) Lift {
	return beside(ctx, func(ctx context.Context) error {
		var running sync.WaitGroup
		for i := range slowClientsEach {
			server := bed.Servers[i%len(bed.Servers)]
			for kind, client := range []func(context.Context, net.Conn){dripping, deaf, leaving} {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(fmt.Sprintf("127.2.%d.%d", kind, i+1))}}
				running.Go(func() {
					for ctx.Err() == nil {
						if conn, err := dialer.DialContext(ctx, "tcp", server.Address); err == nil { // it may restart
							release := context.AfterFunc(ctx, func() { _ = conn.Close() })
							client(ctx, conn)
							release()
							_ = conn.Close() // closing it is enough
						}
						_ = testbed.Wait(ctx, time.Second)
					}
				})
			}
		}
		running.Wait()
		return nil
	})
}

// dripping sends an endless request, one byte a second.
func dripping(ctx context.Context, conn net.Conn) {
	const head = "POST /api/v1/messages HTTP/1.1\r\nHost: stoa\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
	for i := 0; testbed.Wait(ctx, time.Second) == nil; i++ {
		if _, err := conn.Write([]byte{(head + strings.Repeat(" ", 60000))[i]}); err != nil {
			return
		}
	}
}

// deaf requests a lot of data and reads nothing.
func deaf(ctx context.Context, conn net.Conn) {
	for testbed.Wait(ctx, 100*time.Millisecond) == nil {
		if _, err := conn.Write([]byte("GET /api/v1/openapi.json HTTP/1.1\r\nHost: stoa\r\n\r\n")); err != nil {
			return
		}
	}
}

// leaving sends a whole request and does not wait for its answer.
func leaving(ctx context.Context, conn net.Conn) {
	const whole = "POST /api/v1/bots/register HTTP/1.1\r\nHost: stoa\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	if _, err := conn.Write([]byte(whole)); err == nil {
		_ = testbed.Wait(ctx, time.Millisecond)
	}
}
