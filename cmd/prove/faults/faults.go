// Package faults injects faults into the production: one table, each row one fault, injected alone, one after the other, or two
// at a time.
//
// Every fault is lifted before the next round begins, whatever happened in between. A fault that the service does not outlive is a
// defect of the service: the table has no exceptions.
package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// Lift takes the cause of a fault away.
type Lift func(ctx context.Context) error

// Fault is one kind of fault.
type Fault struct {
	Name string
	// Meaning says in a sentence what happens.
	Meaning string
	// Length is how long it is in force.
	Length time.Duration
	// Database says what kind of database it needs: alone, replicated, or any.
	Database Database
	// AsRoot says that only root can strike it, Versions that it needs a second version of the server, Clock that it needs servers
	// whose clocks can be set.
	AsRoot, Versions, Clock bool
	// Failover, Graceful and Mail are those of history.Fault.
	Failover, Graceful, Mail bool
	// Strike injects it and names its target.
	Strike func(ctx context.Context, s *Scene) (target string, lift Lift, err error)
}

// Database is a kind of database.
type Database int

// The kinds of databases.
const (
	Any Database = iota
	Alone
	Replicated
)

// Scene is where a fault strikes.
type Scene struct {
	Bed    *testbed.Bed
	Random *rand.Rand
	// victim is the server that a round strikes.
	victim *testbed.Server
	// inForce names the faults of the round.
	inForce atomic.Pointer[string]
}

// InForce names the faults in force, separated by " + "; it is empty between two rounds.
func (s *Scene) InForce() string {
	if names := s.inForce.Load(); names != nil {
		return *names
	}
	return ""
}

// Select returns the faults of that names, which are separated by commas: all that fit the production for "all", none for "none".
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

// unfit says why a fault cannot strike a production.
func (f Fault) unfit(config testbed.Config) error {
	switch {
	case f.Database == Replicated && !config.Failover:
		return errors.New("there is one database: see --failover")
	case f.Database == Alone && config.Failover:
		return errors.New("it is not for a primary with a standby: leave --failover away")
	case f.AsRoot && os.Geteuid() != 0:
		return errors.New("only root can do that")
	case f.Versions && config.Older == "":
		return errors.New("there is one version of the server: see --older")
	case f.Clock && !config.Clocks:
		return errors.New("the servers' clocks cannot be set: see --clocks")
	}
	return nil
}

// Names are the names of all faults.
func Names() []string {
	names := make([]string, len(table))
	for i, f := range table {
		names[i] = f.Name
	}
	return names
}

const (
	// calm lies between two rounds of faults.
	calm = 3 * time.Second
	// returnTimeout is the time in which the service must be back once a fault is lifted.
	returnTimeout = 30 * time.Second
)

// Schedule injects faults until the end: first each one alone, in the order of the seed, then two at a time. It returns when all
// are lifted, and an error if one could not be injected or lifted, or service did not return within 30 s.
func Schedule(ctx context.Context, s *Scene, recorder *history.Recorder, chosen []Fault, end time.Time) error {
	if len(chosen) == 0 {
		return wait(ctx, time.Until(end))
	}
	order := s.Random.Perm(len(chosen))
	for i := 0; ; i++ {
		if err := wait(ctx, calm); err != nil {
			return err
		}
		round := []Fault{chosen[order[i%len(order)]]}
		if i >= len(order) {
			if second := chosen[s.Random.IntN(len(chosen))]; second.Name != round[0].Name &&
				(second.Database != Replicated || round[0].Database != Replicated) { // a standby cannot be lost twice
				round = append(round, second)
			}
		}
		longest := 0 * time.Second
		for _, f := range round {
			longest = max(longest, f.Length)
		}
		if time.Now().Add(longest + calm).After(end) {
			return wait(ctx, time.Until(end))
		}
		if err := strikeRound(ctx, s, recorder, round); err != nil {
			return err
		}
	}
}

// strikeRound strikes faults together and waits until the service has returned.
func strikeRound(ctx context.Context, s *Scene, recorder *history.Recorder, round []Fault) (err error) {
	type struck struct {
		recorded history.Fault
		lift     Lift
		left     time.Duration
	}
	var all []struck
	names := make([]string, len(round))
	for i, f := range round {
		names[i] = f.Name
	}
	inForce := strings.Join(names, " + ")
	s.inForce.Store(&inForce)
	defer s.inForce.Store(nil)
	for _, f := range round {
		s.victim = s.Bed.Servers[s.Random.IntN(len(s.Bed.Servers))]
		begun := recorder.Now()
		target, lift, failed := f.Strike(ctx, s)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Name, failed))
			continue
		}
		all = append(all, struck{history.Fault{
			Name: f.Name, Target: target, Start: begun, Failover: f.Failover, Graceful: f.Graceful, Mail: f.Mail,
		}, lift, f.Length})
	}
	for i := range all {
		_ = wait(ctx, all[i].left-(recorder.Now()-all[i].recorded.Start)) // an interruption lifts the fault, too
		if failed := all[i].lift(context.WithoutCancel(ctx)); failed != nil {
			err = errors.Join(err, fmt.Errorf("lifting %s: %w", all[i].recorded.Name, failed))
		}
		all[i].recorded.Lifted = recorder.Now()
	}
	if err == nil {
		err = awaitReady(ctx, s.Bed)
	}
	end := recorder.Now()
	recorder.Record(func(h *history.History) {
		for _, one := range all {
			one.recorded.End = end
			h.Faults = append(h.Faults, one.recorded)
		}
	})
	return err
}

// awaitReady waits until every server is ready and the load balancer has found out.
func awaitReady(ctx context.Context, bed *testbed.Bed) error {
	deadline := time.Now().Add(returnTimeout)
	for {
		missing := ""
		for _, server := range bed.Servers {
			if !server.Ready(ctx) {
				missing = server.Name
			}
		}
		switch {
		case missing == "":
			return wait(ctx, testbed.BalancerInterval)
		case time.Now().After(deadline):
			return fmt.Errorf("%s is not ready %s after the fault was lifted", missing, returnTimeout)
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
