package faults

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"stoa/cmd/prove/testbed"
)

var table = []Fault{
	{Name: "server-killed", Length: 2 * time.Second,
		Strike: server(func(_ context.Context, s *testbed.Server) error { s.End(syscall.SIGKILL); return nil }, start)},
	{Name: "server-killed-often", Length: 20 * time.Second,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			victim := s.victim
			return victim.Name, repeatedly(ctx, 3*time.Second, func() error {
				victim.End(syscall.SIGKILL)
				return victim.Start(ctx)
			}), nil
		}},
	{Name: "server-paused", Length: 6 * time.Second, Strike: server(signal(syscall.SIGSTOP), signal(syscall.SIGCONT))},
	{Name: "inspectors-killed", Length: 3 * time.Second, Strike: killInspectors},
	{Name: "rolling-restart", Length: time.Second, Graceful: true,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			return "all servers", nothing, restartAll(ctx, s)
		}},
	{Name: "rolling-restart-direct", Length: time.Second, Graceful: true,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			if err := s.Bed.SetStrict(ctx, true); err != nil {
				return "", nil, injected(err)
			}
			return "all servers", func(ctx context.Context) error { return s.Bed.SetStrict(ctx, false) }, restartAll(ctx, s)
		}},
	{Name: "version-changed", Versions: true, Graceful: true,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			version, err := s.victim.ChangeVersion(ctx)
			return s.victim.Name + " to the " + version + " version", nothing, err
		}},
	{Name: "clock-ahead", Clock: true, Length: 8 * time.Second, Graceful: true, Strike: setClock(time.Hour)},
	{Name: "clock-behind", Clock: true, Length: 8 * time.Second, Graceful: true, Strike: setClock(-time.Hour)},
	{Name: "backend-killed", Database: Alone, Length: time.Second, Failover: true,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			pids, err := s.Bed.Backends(ctx)
			if err != nil || len(pids) == 0 {
				return "", nil, injected(errors.Join(err, errors.New("there is no backend")))
			}
			return "the database", nothing, injected(syscall.Kill(int(pids[s.Random.IntN(len(pids))]), syscall.SIGKILL))
		}},
	{Name: "backends-paused", Database: Alone, Length: 6 * time.Second,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			pids, err := s.Bed.Backends(ctx)
			pids = pids[len(pids)/2:]
			signal := func(signal syscall.Signal) {
				for _, pid := range pids {
					_ = syscall.Kill(int(pid), signal) // it may have ended
				}
			}
			signal(syscall.SIGSTOP)
			return fmt.Sprintf("%d connections", len(pids)), func(context.Context) error { signal(syscall.SIGCONT); return nil }, injected(err)
		}},
	{Name: "database-stopped", Database: Alone, Length: 3 * time.Second, Failover: true, Strike: part("the database",
		func(s *Scene) error { s.Bed.Database.StopImmediately(); return nil },
		func(ctx context.Context, s *Scene) error { return s.Bed.Database.Start(ctx) })},
	{Name: "primary-lost", Database: Replicated, Failover: true,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			cluster := s.Bed.Cluster
			primary := cluster.Primary(ctx)
			if primary == nil {
				return "", nil, injected(errors.New("there is no primary"))
			}
			if err := primary.Kill(); err != nil {
				return "", nil, err
			}
			// Service must return without that machine, which is started afterwards.
			err := errors.Join(cluster.AwaitPrimary(ctx), awaitReady(ctx, s.Bed))
			return primary.Name, func(ctx context.Context) error { return errors.Join(primary.Start(ctx), cluster.AwaitStandby(ctx)) }, err
		}},
	{Name: "switchover", Database: Replicated, Failover: true,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			cluster := s.Bed.Cluster
			return "both databases", func(ctx context.Context) error {
				return errors.Join(cluster.AwaitPrimary(ctx), cluster.AwaitStandby(ctx))
			}, cluster.SwitchOver(ctx)
		}},
	{Name: "table-locked", Length: 30 * time.Second,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			tx, err := s.Bed.DB.BeginTx(context.WithoutCancel(ctx), nil)
			if err != nil {
				return "", nil, injected(err)
			}
			_, err = tx.ExecContext(ctx, "LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
			return "orders", func(context.Context) error {
				if err := tx.Rollback(); err != nil && len(s.Recorder.InForce()) <= 1 {
					return err
				}
				return nil // another fault may have cut the connection, with which the lock ended
			}, injected(err)
		}},
	{Name: "network-slow", Length: 8 * time.Second, Strike: toxic("latency", map[string]int{"latency": 300, "jitter": 100})},
	{Name: "network-throttled", Length: 8 * time.Second, Strike: toxic("bandwidth", map[string]int{"rate": 16})},
	{Name: "network-torn", Length: 5 * time.Second, Strike: toxic("limit_data", map[string]int{"bytes": 3000})},
	{Name: "network-silent", Length: 12 * time.Second, Strike: toxic("timeout", map[string]int{"timeout": 0})},
	{Name: "network-reset", Length: 3 * time.Second, Strike: toxic("reset_peer", map[string]int{"timeout": 50})},
	{Name: "network-refused", Length: 4 * time.Second,
		Strike: server(func(_ context.Context, s *testbed.Server) error { s.Network.Cut(); return nil },
			func(_ context.Context, s *testbed.Server) error { return s.Network.Mend() })},
	{Name: "clients-slow", Length: 8 * time.Second,
		Graceful: true, Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			return "all servers", slowClients(ctx, s.Bed), nil
		}},
	{Name: "mail-dead", Mail: true, Length: 6 * time.Second, Graceful: true, Strike: part("the mail server",
		func(s *Scene) error { s.Bed.Mail.Network.Cut(); return nil },
		func(_ context.Context, s *Scene) error { return s.Bed.Mail.Network.Mend() })},
	{Name: "mail-slow", Mail: true, Length: 8 * time.Second, Graceful: true,
		Strike: func(_ context.Context, s *Scene) (string, Lift, error) {
			heal, err := slowMails(s)
			return "the mail server", heal, err
		}},
	{Name: "mail-lies", Mail: true, Length: 8 * time.Second, Graceful: true, Strike: part("the mail server",
		func(s *Scene) error { s.Bed.Mail.Lie(true); return nil },
		func(_ context.Context, s *Scene) error { s.Bed.Mail.Lie(false); return nil })},
	{Name: "servers-lost-mailing", Length: 9 * time.Second, Strike: loseMailing},
	{Name: "commits-late", Length: 8 * time.Second,
		Strike: func(ctx context.Context, s *Scene) (string, Lift, error) {
			run := func(ctx context.Context, statements string) error {
				_, err := s.Bed.DB.ExecContext(ctx, statements)
				return err
			}
			return "the database", func(ctx context.Context) (err error) {
				_ = testbed.Await(ctx, retryPause, returnTimeout, func() bool { // another fault may have ended the database, too
					err = run(ctx, promptCommits)
					return err == nil
				})
				return err
			}, injected(run(ctx, lateCommits))
		}},
	{Name: "files-full", Length: 6 * time.Second, AsRoot: true, Strike: part("the files",
		func(s *Scene) error { return s.Bed.Files.Fill() },
		func(_ context.Context, s *Scene) error { return s.Bed.Files.Empty() })},
	{Name: "files-read-only", Length: 6 * time.Second, AsRoot: true, Strike: part("the files",
		func(s *Scene) error { return s.Bed.Files.ReadOnly(true) },
		func(_ context.Context, s *Scene) error { return s.Bed.Files.ReadOnly(false) })},
	{Name: "database-full", Database: Alone, Length: 6 * time.Second, AsRoot: true, Failover: true, Strike: part("the database",
		func(s *Scene) error { return s.Bed.Database.Disk.Fill() },
		func(ctx context.Context, s *Scene) error {
			return errors.Join(s.Bed.Database.Disk.Empty(), testbed.Wait(ctx, panics), s.Bed.Database.Start(ctx))
		})},
	{Name: "restored", Database: Alone, Length: time.Second, Failover: true, Prepare: backUp, Strike: restore},
}

const (
	// effectTimeout is how much longer a fault without effect stays in force.
	effectTimeout = 10 * time.Second
	// panics is how long a database without space takes to end, if it ends.
	panics = 500 * time.Millisecond
)

// nothing lifts a fault that ends by itself.
func nothing(context.Context) error { return nil }

// part applies strike to a part of the production; lifting applies lift.
func part(name string, strike func(s *Scene) error, lift func(ctx context.Context, s *Scene) error) Strike {
	return func(_ context.Context, s *Scene) (string, Lift, error) {
		return name, func(ctx context.Context) error { return lift(ctx, s) }, injected(strike(s))
	}
}

type onServer = func(ctx context.Context, s *testbed.Server) error

// server applies strike to the round's victim; lifting applies lift.
func server(strike, lift onServer) Strike {
	return func(ctx context.Context, s *Scene) (string, Lift, error) {
		victim := s.victim
		return victim.Name, func(ctx context.Context) error { return lift(ctx, victim) }, strike(ctx, victim)
	}
}

func start(ctx context.Context, s *testbed.Server) error { return s.Start(ctx) }

func signal(signal syscall.Signal) onServer {
	return func(_ context.Context, s *testbed.Server) error { s.Signal(signal); return nil }
}

// setClock sets the clock of a server. Another fault may have ended the server, and then it does not show its clock; a server that
// shows another clock was built without .ci/clocks.
func setClock(offset time.Duration) Strike {
	return server(func(ctx context.Context, s *testbed.Server) error {
		err := errors.Join(s.SetClock(offset), s.CheckClock(ctx, offset))
		if errors.Is(err, testbed.ErrClock) {
			return err
		}
		return injected(err)
	}, func(_ context.Context, s *testbed.Server) error { return s.SetClock(0) })
}

// toxic injects a network fault between a server and the database.
func toxic(kind string, attributes map[string]int) Strike {
	return func(_ context.Context, s *Scene) (string, Lift, error) {
		heal, err := s.victim.Network.Add(kind, attributes)
		return s.victim.Name, heal, injected(err)
	}
}

// slowMails makes each answer of the mail server take one to six seconds.
func slowMails(s *Scene) (Lift, error) {
	heal, err := s.Bed.Mail.Network.Add("latency", map[string]int{"latency": 1750, "jitter": 1250}) // there and back
	return heal, injected(err)
}

// killInspectors kills the processes that inspect files. If none runs, it waits longer for one.
func killInspectors(ctx context.Context, s *Scene) (string, Lift, error) {
	var killed atomic.Int64
	stop := repeatedly(ctx, 100*time.Millisecond, func() error {
		for _, server := range s.Bed.Servers {
			for _, pid := range server.Inspectors() {
				if syscall.Kill(pid, syscall.SIGKILL) == nil { // otherwise it has ended
					killed.Add(1)
				}
			}
		}
		return nil
	})
	return "all servers", func(ctx context.Context) error {
		_ = testbed.Await(ctx, 100*time.Millisecond, effectTimeout, func() bool { return killed.Load() > 0 })
		if err := stop(ctx); err != nil || killed.Load() > 0 {
			return err
		}
		return errNoEffect
	}, nil
}

// restartAll restarts all servers gracefully, one after the other.
func restartAll(ctx context.Context, s *Scene) error {
	for _, server := range s.Bed.Servers {
		server.Stop()
		if err := server.Start(ctx); err != nil {
			return err
		}
		if err := awaitReady(ctx, s.Bed); err != nil {
			return err
		}
		if err := testbed.Wait(ctx, time.Second); err != nil { // the load balancer notices it
			return err
		}
	}
	return nil
}

// mailsUnderWay is how long a slow mail server works before the first server is killed: by then all servers that send mails have
// some in progress.
const mailsUnderWay = 3 * time.Second

// loseMailing makes the mail server slow, then kills and restarts one server after the other.
func loseMailing(ctx context.Context, s *Scene) (string, Lift, error) {
	heal, err := slowMails(s)
	stop := beside(ctx, func(ctx context.Context) (failed error) {
		pause := mailsUnderWay
		for _, server := range s.Bed.Servers {
			if testbed.Wait(ctx, pause) != nil {
				break
			}
			server.End(syscall.SIGKILL)
			failed = errors.Join(failed, server.Start(context.WithoutCancel(ctx)))
			pause = time.Second
		}
		return failed
	})
	return "all servers", func(ctx context.Context) error { return errors.Join(stop(ctx), heal(ctx)) }, err
}

// The statements that delay commits. A deferred trigger runs at the commit: then everything of the transaction is written, but
// invisible to others, as with a disk that hangs. The random part of an event's id selects the transactions.
const (
	lateCommits = `CREATE FUNCTION prove_commit_late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2.5); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER prove_commit_late AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (get_byte(uuid_send(NEW.id), 15) < 64) EXECUTE FUNCTION prove_commit_late()`
	promptCommits = `DROP TRIGGER IF EXISTS prove_commit_late ON events; DROP FUNCTION IF EXISTS prove_commit_late()`
)

// repeatedly runs do at an interval until the fault is lifted.
func repeatedly(ctx context.Context, interval time.Duration, do func() error) Lift {
	return beside(ctx, func(ctx context.Context) (failed error) {
		for testbed.Wait(ctx, interval) == nil {
			failed = errors.Join(failed, do())
		}
		return failed
	})
}

// beside runs do until the fault is lifted. Lifting waits for its end and returns its error.
func beside(ctx context.Context, do func(ctx context.Context) error) Lift {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	return func(context.Context) error {
		stop()
		return <-done
	}
}
