package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/scenarios"
)

// profiled is how long a profile is taken, in seconds.
const profiled = 5

// profile runs the server alone on a path and keeps a profile of its processor time.
func (r *run) profile(ctx context.Context, path scenarios.Path, server compare.Contestant) error {
	r.sayf("%s, a profile", path.Name)
	if err := os.MkdirAll(r.Profiles, 0o750); err != nil {
		return err
	}
	taken := make(chan error, 1)
	go func() {
		taken <- writeFile(filepath.Join(r.Profiles, path.Name+".pprof"), func(to io.Writer) error {
			return server.Process.Profile(ctx, profiled, to)
		})
	}()
	plan := compare.Plan{Rounds: 1, Length: (profiled + 1) * time.Second}
	_, err := plan.Run(ctx, r.world, path, grownConnections, []compare.Contestant{server})
	return errors.Join(err, <-taken)
}
