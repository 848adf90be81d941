// Package faults injects faults into the production. They are rows of one table, injected one after the other, alone or two at a
// time.
//
// Every fault is lifted before the next round begins, even after errors. If the service does not survive a fault, the service has
// a defect: the table has no exceptions.
package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
	"stoa/cmd/prove/workload"
)

// Lift removes the cause of a fault.
type Lift = func(ctx context.Context) error

// Strike injects a fault and returns its target. If it returns a notInjectedError, lift (if not nil) runs and the fault is tried
// again; any other error is a defect of the service.
type Strike = func(ctx context.Context, s *Scene) (target string, lift Lift, err error)

// Fault is one kind of fault.
type Fault struct {
	Name string
	// Length is how long it is in force.
	Length time.Duration
	// Database is the kind of database that the fault needs.
	Database Database
	// AsRoot: only root can inject it. Versions: it needs a second version of the server. Clock: it needs servers whose clocks
	// can be set.
	AsRoot, Versions, Clock bool
	// Prepare, unless it is nil, prepares the fault while the load runs. It excuses nothing. Such a fault is injected alone, on
	// servers of one version.
	Prepare func(ctx context.Context, s *Scene) error
	// Failover, Graceful and Mail have the same meaning as in history.Fault.
	Failover, Graceful, Mail bool

	Strike Strike
}

// Database is a kind of database.
type Database int

// The kinds of databases.
const (
	Any Database = iota
	Alone
	Replicated
)

// Scene holds the parts of a run that faults need.
type Scene struct {
	Bed    *testbed.Bed
	Random *rand.Rand
	// Recorder and Agents belong to the run.
	Recorder *history.Recorder
	Agents   *workload.Workload
	// victim is the server that the round's faults hit.
	victim *testbed.Server

	mu     sync.Mutex
	missed []string
	// loss is the backup that is to be restored.
	loss history.Loss
}

// Missed returns the faults that were tried and not injected, each with the reason.
func (s *Scene) Missed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missed)
}

// Select returns the faults of the given names, separated by commas: "all" for all that fit the production, "none" for none.
func Select(names string, config testbed.Config) ([]Fault, error) {
	switch names {
	case "none":
		return nil, nil
	case "all":
		return slices.DeleteFunc(slices.Clone(table), func(f Fault) bool { return f.unfit(config) != nil }), nil
	}
	var selected []Fault
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(table, func(f Fault) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no fault %q; there are %s", name, strings.Join(Names(), ", "))
		}
		if err := table[i].unfit(config); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		selected = append(selected, table[i])
	}
	return selected, nil
}

// unfit returns why a fault cannot be injected into a production.
func (f Fault) unfit(config testbed.Config) error {
	for why, is := range map[string]bool{
		"there is one database: see --failover":                         f.Database == Replicated && !config.Failover,
		"it is not for a primary with a standby: leave --failover away": f.Database == Alone && config.Failover,
		"only root can do that":                                         f.AsRoot && os.Geteuid() != 0,
		"it is for servers of one version: leave --older away":          f.Prepare != nil && config.Older != "",
		"there is one version of the server: see --older":               f.Versions && config.Older == "",
		"the servers' clocks cannot be set: see --clocks":               f.Clock && !config.Clocks,
	} {
		if is {
			return errors.New(why)
		}
	}
	return nil
}

// Names returns the names of all faults.
func Names() []string {
	names := make([]string, len(table))
	for i, f := range table {
		names[i] = f.Name
	}
	return names
}

const (
	// calm is the time between two rounds of faults.
	calm = 3 * time.Second
	// returnTimeout is the time in which the service must be back after a fault was lifted, also on a busy machine: if 30
	// programs compete for two processors, requests that waited for a database take more than a minute.
	returnTimeout = 3 * time.Minute
)

// Schedule injects faults until the end: first each one alone, in the order of the seed, then two at a time. It returns when all
// are lifted. It returns an error if a fault could not be lifted, or if service did not return in time. Faults that could not be
// injected are among the scene's missed ones.
func Schedule(ctx context.Context, s *Scene, chosen []Fault, end time.Time) error {
	if len(chosen) == 0 {
		return testbed.Wait(ctx, time.Until(end))
	}
	order := s.Random.Perm(len(chosen))
	for i := 0; ; i++ {
		if err := testbed.Wait(ctx, calm); err != nil {
			return err
		}
		round := []Fault{chosen[order[i%len(order)]]}
		longest := round[0].Length
		if i >= len(order) {
			if second := chosen[s.Random.IntN(len(chosen))]; round[0].mayMeet(second) {
				round, longest = append(round, second), max(longest, second.Length)
			}
		}
		if time.Now().Add(longest + calm).After(end) {
			return testbed.Wait(ctx, time.Until(end))
		}
		if prepare := round[0].Prepare; prepare != nil {
			if err := prepare(ctx, s); err != nil {
				return fmt.Errorf("before %s: %w", round[0].Name, err)
			}
		}
		if err := strikeRound(ctx, s, round); err != nil {
			return err
		}
	}
}

// mayMeet reports whether two faults may be injected together. Two faults of the database itself may not: the end of
// one may need space on the disk or a standby, which the other has taken away.
func (f Fault) mayMeet(second Fault) bool {
	return f.Name != second.Name && f.Prepare == nil && second.Prepare == nil && (f.Database == Any || second.Database == Any)
}

const (
	// A fault that cannot be injected is tried `tries` times, with retryPause between them.
	tries      = 5
	retryPause = time.Second
)

type struck struct {
	recorded history.Fault
	lift     Lift
	left     time.Duration
	// failed is the error of lifting the fault.
	failed error
}

// at returns the record of a fault that begins at a moment.
func (f Fault) at(begun time.Duration) history.Fault {
	return history.Fault{Name: f.Name, Start: begun, Failover: f.Failover, Graceful: f.Graceful, Mail: f.Mail}
}

// strikeRound injects faults together, waits until the service has returned, and records the faults that took effect. It notes
// the others as missed.
func strikeRound(ctx context.Context, s *Scene, round []Fault) (err error) {
	noted := make([]history.Fault, len(round))
	for i, f := range round {
		noted[i] = f.at(s.Recorder.Now())
	}
	end := s.Recorder.Begin(noted...)
	var all []*struck
	var lifting sync.WaitGroup
	for _, f := range round {
		one, failed := strike(ctx, s, f)
		switch {
		case failed == nil:
			all = append(all, one)
			lifting.Go(func() { one.liftInTime(ctx, s) })
		case errors.As(failed, new(notInjectedError)):
			s.miss(f.Name, failed)
		default:
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Name, failed))
		}
	}
	lifting.Wait()
	for _, one := range all {
		err = errors.Join(err, one.failed)
	}
	if err == nil {
		err = awaitReady(ctx, s.Bed)
	}
	effective := make([]history.Fault, len(all))
	for i, one := range all {
		effective[i] = one.recorded
		effective[i].End = s.Recorder.Now()
	}
	end(effective...)
	return err
}

// liftInTime lifts a fault at its time. Faults of a round do not wait for each other: a server that one fault restarts may need
// the network that another one has cut.
func (one *struck) liftInTime(ctx context.Context, s *Scene) {
	_ = testbed.Wait(ctx, one.left-(s.Recorder.Now()-one.recorded.Start)) // an interruption lifts the fault, too
	failed := one.lift(context.WithoutCancel(ctx))
	if errors.As(failed, new(notInjectedError)) {
		s.miss(one.recorded.Name, failed)
	} else if failed != nil {
		one.failed = fmt.Errorf("lifting %s: %w", one.recorded.Name, failed)
	}
	one.recorded.Lifted = s.Recorder.Now()
}

// strike draws a server and injects a fault into it, and tries again if that fails.
func strike(ctx context.Context, s *Scene, f Fault) (*struck, error) {
	s.victim = s.Bed.Servers[s.Random.IntN(len(s.Bed.Servers))]
	begun := s.Recorder.Now()
	var target string
	var lift Lift
	var err error
	for range tries {
		if target, lift, err = f.Strike(ctx, s); err == nil {
			one := &struck{recorded: f.at(begun), lift: lift, left: f.Length}
			one.recorded.Target = target
			return one, nil
		}
		if lift != nil {
			_ = lift(context.WithoutCancel(ctx)) // there may be nothing to lift
		}
		if !errors.As(err, new(notInjectedError)) || testbed.Wait(ctx, retryPause) != nil {
			break
		}
	}
	return nil, err
}

// notInjectedError is the reason why a fault could not be injected. It is no defect of the service.
type notInjectedError struct{ error }

// Unwrap returns the reason.
func (n notInjectedError) Unwrap() error { return n.error }

// injected returns nil, or err as a notInjectedError error.
func injected(err error) error {
	if err == nil {
		return nil
	}
	return notInjectedError{err}
}

var errNoEffect = notInjectedError{errors.New("it met nothing")}

func (s *Scene) miss(name string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed = append(s.missed, fmt.Sprintf("%s: %v", name, why))
}

// awaitReady waits until every server is ready and the load balancer knows it.
func awaitReady(ctx context.Context, bed *testbed.Bed) error {
	missing := ""
	if err := testbed.Await(ctx, 50*time.Millisecond, returnTimeout, func() bool {
		missing = ""
		for _, server := range bed.Servers {
			if !server.Ready(ctx) {
				missing = server.Name
			}
		}
		if missing == "" && !bed.Balanced(ctx) {
			missing = "a server, as the load balancer sees it,"
		}
		return missing == ""
	}); err != nil {
		return fmt.Errorf("%s is not ready after the fault was lifted: %w", missing, err)
	}
	return testbed.Wait(ctx, testbed.BalancerInterval)
}
