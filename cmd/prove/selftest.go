package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stoa/cmd/prove/selftest"
)

type selfTestCommand struct {
	Bugs      []string `help:"Bugs by name, or all: ${bugs}." default:"all" enum:"all,${bugs}"`
	Share     int      `help:"Part of the bugs to try, from 1 to the number of parts." default:"1"`
	Parts     int      `help:"Number of parts." default:"1"`
	Minutes   float64  `help:"Length of the load of each proof." default:"1"`
	Seed      uint64   `help:"Plan of each proof." default:"1"`
	Tries     uint64   `help:"Plans, from the seed on, after which a bug counts as missed." default:"2"`
	Processes int      `help:"Number of servers." default:"3"`
	Agents    int      `help:"Number of agents, 8 to 28." default:"16"`
	Faults    string   `help:"Faults of the bugs that name none." default:"server-killed,network-reset,network-torn,rolling-restart"`
	Server    string   `help:"The server's program without a bug." default:"bin/stoa" type:"existingfile"`
	Dir       string   `help:"Folder for the runs' own folders and the programs." type:"existingdir"`
	Out       string   `help:"Folder for result.json and result.md, which are written after each bug." type:"existingdir"`
	Least     int      `help:"How many bugs must be found." default:"0"`
}

// Validate refuses parts that do not exist.
func (c *selfTestCommand) Validate() error {
	if c.Share < 1 || c.Share > c.Parts {
		return errors.New("--share is a number from 1 to --parts")
	}
	return nil
}

// built is a server with a bug, or the reason why it was not built.
type built struct {
	bug     selftest.Row
	program string
	err     error
}

// Run proves one server after the other while the next one is built.
func (c *selfTestCommand) Run(ctx context.Context) error {
	made, err := newResult(ctx, "Bugs planted on purpose", c.Server, again(c.Seed))
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(c.Dir, "stoa-bugs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the folder holds only programs
	var r selftest.Results
	try := func(next built) error {
		result := c.prove(ctx, next, c.Seed)
		for seed := c.Seed + 1; seed < c.Seed+c.Tries && next.bug.Name != "" && result.By == "" && ctx.Err() == nil; seed++ {
			if again := c.prove(ctx, next, seed); again.NotTried == "" || result.NotTried != "" {
				result = again
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r = append(r, result)
		logf("%s: %s %s %s", cmp.Or(result.Bug.Name, "without a bug"), result.Verdict(), result.After.Round(time.Second), result.Violation)
		r.Fill(made)
		if c.Out != "" {
			return made.Write(c.Out)
		}
		return nil
	}
	servers := buildAhead(ctx, folder, selftest.Share(selftest.Select(c.Bugs...), c.Share, c.Parts))
	if err := try(built{program: c.Server}); err != nil {
		return err
	}
	if err := r.Judge(0); err != nil {
		return err
	}
	for next := range servers {
		if err := errors.Join(try(next), os.RemoveAll(filepath.Join(folder, next.bug.Name))); err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stdout, made.Page())
	return r.Judge(c.Least)
}

// buildAhead builds servers, one ahead of the proof.
func buildAhead(ctx context.Context, folder string, bugs []selftest.Row) <-chan built {
	ready := make(chan built)
	go func() {
		defer close(ready)
		for _, bug := range bugs {
			program, err := selftest.Build(ctx, ".", filepath.Join(folder, bug.Name), bug)
			select {
			case ready <- built{bug, program, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ready
}

// prove runs a short proof of one server by the plan of the seed. The bug is found if the judge finds a violation or if service
// does not return after a fault; any other error is a proof without a result.
func (c *selfTestCommand) prove(ctx context.Context, b built, seed uint64) selftest.Result {
	result := selftest.Result{Bug: b.bug}
	proof := &faultsCommand{
		Seed: seed, Minutes: c.Minutes, Processes: c.Processes, Agents: c.Agents, Faults: c.Faults, Server: b.program, Dir: c.Dir,
	}
	if b.bug.Faults != "" {
		proof.Faults = b.bug.Faults
	}
	if b.bug.Minutes > 0 {
		proof.Minutes = b.bug.Minutes
	}
	r, err := proof.newRun()
	if err = errors.Join(b.err, err); err != nil {
		result.NotTried = err.Error()
		return result
	}
	failed := r.prove(ctx)
	result.After = r.at - r.begun
	for _, f := range r.findings {
		if f.Count > 0 {
			result.By, result.Violation = f.Name, f.Violations[0]
			break
		}
	}
	if failed != nil && r.bed != nil {
		failed = errors.Join(failed, r.bed.Remove())
	}
	switch missed := r.scene.Missed(); {
	case result.By != "":
	case r.failed != nil:
		result.By, result.After = "a fault that the service did not outlive", r.recorder.Now()-r.begun
		result.Violation = r.failed.Error()
	case failed != nil: // the proof itself may have failed
		result.NotTried, _, _ = strings.Cut(failed.Error(), "\n")
	case len(missed) > 0 && b.bug.Faults != "":
		result.NotTried = strings.Join(missed, "; ")
	}
	return result
}

var begun = time.Now()

func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(begun).Round(time.Second), fmt.Sprintf(format, args...))
}
