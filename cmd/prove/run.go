package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"stoa/cmd/prove/audit"
	"stoa/cmd/prove/faults"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/cmd/prove/report"
	"stoa/cmd/prove/testbed"
	"stoa/cmd/prove/workload"
)

type run struct {
	*faultsCommand

	config   testbed.Config
	chosen   []faults.Fault
	recorder *history.Recorder
	bed      *testbed.Bed
	load     *workload.Workload
	scene    *faults.Scene
	// canaries waits for the canary.
	canaries sync.WaitGroup
	// failed is an error that is not a finding of the judge, such as a service that did not return.
	failed error
	// findings are the judge's, about judged.
	findings []judge.Finding
	judged   *history.History
	// begun: when the servers were ready. at: when the findings were made. early: they stopped the run.
	begun, at time.Duration
	early     bool
}

func (c *faultsCommand) newRun() (*run, error) {
	config := testbed.Config{
		Program: c.Server, Older: c.Older, Clocks: c.Clocks, Processes: c.Processes, Failover: c.Failover, Roomy: c.Minutes > 10,
		// All agents run on one machine, and request more codes than people do.
		Environment: []string{
			"STOA_LIMIT_REQUESTS_PER_ADDRESS_PER_SECOND=0", "STOA_LIMIT_EMAIL_CHALLENGES_PER_ADDRESS_PER_HOUR=0",
			"STOA_LIMIT_MAILS_PER_HOUR=0", fmt.Sprintf("STOA_LIMIT_FILES_PER_AGENT=%d", history.FilesOfAgent),
			"STOA_WEBHOOKS=on", "STOA_WEBHOOKS_ALLOW_LOOPBACK=true",
		},
	}
	chosen, err := faults.Select(c.Faults, config)
	if err != nil {
		return nil, err
	}
	if c.Agents < 8 || c.Agents > 28 {
		return nil, errors.New("--agents must be 8 to 28: the service allows 32 sockets")
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()>>33 + 1
	}
	scene := &faults.Scene{Random: rand.New(rand.NewPCG(c.Seed, 1<<32))}
	return &run{faultsCommand: c, config: config, chosen: chosen, scene: scene}, nil
}

// phases are the parts of a proof, in order.
var phases = []struct {
	name string
	do   func(r *run, ctx context.Context) error
}{
	{"starting PostgreSQL, the servers and the load balancer", (*run).start},
	{"registering agents", (*run).register},
	{"exceeding the limits", (*run).exceedLimits},
	{"working, with faults", (*run).work},
	{"settling", (*run).settle},
	{"reading everything", (*run).read},
}

// giveUp is how much longer than twice its load a run may take: a long load takes as long to be read and judged.
const giveUp = 10 * time.Minute

// prove runs all phases and judges the run, during them and at the end. It keeps the folder of a failed run.
func (r *run) prove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*r.faultsCommand.load()+giveUp)
	defer cancel()
	r.recorder = history.NewRecorder(r.Seed)
	r.logf("seed %d: repeat the plan with --seed %d", r.Seed, r.Seed)
	err := r.examine(ctx)
	if r.bed != nil {
		if r.early { // the rest of the run is not judged
			r.bed.Kill()
		}
		err = errors.Join(err, r.bed.Close())
	}
	if err == nil {
		err = errors.Join(r.failed, r.conclude(ctx))
	}
	switch {
	case r.bed == nil:
	case err == nil:
		err = r.bed.Remove()
	default:
		r.logf("the logs are in %s", r.bed.Folder)
	}
	return err
}

// examine runs the phases until they end or the judge, which reads along, has found a violation.
func (r *run) examine(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer stop()
		r.watch(running)
	}()
	err := r.phases(running)
	stop()
	<-watched
	r.canaries.Wait()
	if r.early {
		r.failed = nil // an interrupted phase has not failed
		return nil
	}
	if err == nil {
		r.judged = r.recorder.Known()
		r.findings, r.at = judge.Judge(r.judged), r.recorder.Now()
	}
	return err
}

const (
	// watchPause is the shortest time between two judgements during the run. The pause after a judgement is at least patience
	// times as long as the judgement.
	watchPause = 3 * time.Second
	patience   = 4
	// The judge sees the record up to behind ago, longer than any request takes: a request is recorded at its end.
	behind = 20 * time.Second
)

// watch repeatedly judges the known record until ctx ends or until it finds a violation, which ends the run.
func (r *run) watch(ctx context.Context) {
	for pause := watchPause; testbed.Wait(ctx, pause) == nil; {
		begun, h := time.Now(), r.recorder.Known()
		if findings := judge.Early(h, h.Length-behind); judge.Violations(findings) > 0 {
			r.findings, r.judged, r.early, r.at = findings, h, true, r.recorder.Now()
			r.logf("the judge stops the run")
			return
		}
		pause = max(watchPause, patience*time.Since(begun))
	}
}

func (r *run) phases(ctx context.Context) error {
	for _, phase := range phases {
		r.logf("%s", phase.name)
		err := phase.do(r, ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return nil
}

func (r *run) logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", r.recorder.Now().Round(time.Second), fmt.Sprintf(format, args...))
}

func (r *run) start(ctx context.Context) (err error) {
	if r.bed, err = testbed.New(ctx, r.Dir, r.config); err == nil {
		r.begun = r.recorder.Now()
		r.scene.Bed, r.scene.Recorder = r.bed, r.recorder
		r.canaries.Go(func() { canary(ctx, r.bed.URL+testbed.CanaryPath, r.recorder) })
	}
	return err
}

func (r *run) register(ctx context.Context) (err error) {
	if r.load, err = workload.New(ctx, r.recorder, r.bed, r.Seed, r.Agents); err == nil {
		r.scene.Agents = r.load
	}
	return err
}

// exceedLimits exceeds the limits of a service without faults, and measures the resources that the service holds afterwards.
func (r *run) exceedLimits(ctx context.Context) error {
	if err := r.load.Burst(ctx); err != nil {
		return err
	}
	held, err := r.quiet(ctx)
	r.recorder.Record(func(h *history.History) { h.Final.Before = held })
	return err
}

// work runs the agents while faults are injected.
func (r *run) work(ctx context.Context) error {
	end := time.Now().Add(r.faultsCommand.load())
	working, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { r.load.Run(working) })
	running.Go(func() { report.Progress(working, r.recorder, os.Stderr) })
	r.failed = faults.Schedule(ctx, r.scene, r.chosen, end)
	stop()
	running.Wait()
	return ctx.Err()
}

func (r *run) settle(ctx context.Context) error { return r.load.Settle(ctx) }

// quietTimeout is how long the service has to release the resources that it held for agents.
const quietTimeout = 30 * time.Second

func (r *run) read(ctx context.Context) error {
	if err := r.load.Read(ctx); err != nil {
		return err
	}
	r.load.Close()
	ledger, err := audit.Ledger(ctx, r.bed.DB)
	if err != nil {
		return err
	}
	held, err := r.quiet(ctx)
	if err != nil {
		return err
	}
	r.recorder.Record(func(h *history.History) { h.Final.Ledger, h.Final.After = ledger, held })
	return nil
}

// quiet returns the resources that the service holds once it has released all that clients held, or after 30 s.
func (r *run) quiet(ctx context.Context) (held map[string]float64, err error) {
	_ = testbed.Await(ctx, time.Second, quietTimeout, func() bool {
		held, err = audit.Holdings(ctx, r.bed)
		return err != nil || held["socket_slots"]+held["upload_reservations"]+held["attachment_leases"]+held["unfinished_uploads"]+
			held["temporary_files"] == 0
	})
	return held, err
}

const (
	// canaryInterval is the time between two requests of the canary.
	canaryInterval = 100 * time.Millisecond
	// starvation is how long the canary waits on a machine without any free time.
	starvation = 500 * time.Millisecond
	// sluggish is how long it waits on a busy machine; on an idle one it waits for a few milliseconds.
	sluggish = 50 * time.Millisecond
)

// canary repeatedly asks the load balancer itself, at url, for an answer that needs no server and no work, until ctx ends. If it
// takes half a second, the machine starved, and events of that time prove nothing about the service: then it was a fault.
func canary(ctx context.Context, url string, recorder *history.Recorder) {
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	due := recorder.Now()
	for ctx.Err() == nil {
		starved := history.Fault{Name: history.MachineStarved, Target: "the machine", Start: due}
		end := recorder.Begin(starved)
		askCanary(ctx, client, url)
		now := recorder.Now()
		if now-due > sluggish {
			recorder.Record(func(h *history.History) { h.Delays = append(h.Delays, history.Delay{Start: due, End: now}) })
		}
		if starved.Lifted, starved.End = now, now; now-due > starvation {
			end(starved)
		} else {
			end()
		}
		due = recorder.Now() + canaryInterval // oversleeping counts, too
		_ = testbed.Wait(ctx, canaryInterval)
	}
}

func askCanary(ctx context.Context, client *http.Client, url string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	response, err := client.Do(request)
	if err != nil {
		return // the load balancer ends with the run
	}
	_, _ = io.Copy(io.Discard, response.Body) // only the time counts
	_ = response.Body.Close()
}
