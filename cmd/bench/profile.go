package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"stoa/cmd/bench/contest"
	"stoa/cmd/bench/paths"
	"stoa/cmd/bench/world"
)

// profiled is how long a profile is taken, in seconds.
const profiled = 5

// profile runs the server alone on a path and keeps a profile of its processor time.
func (r *run) profile(ctx context.Context, path paths.Path, server contest.Contestant) error {
	r.sayf("%s, a profile", path.Name)
	if err := os.MkdirAll(r.Profiles, 0o750); err != nil {
		return err
	}
	taken := make(chan error, 1)
	go func() { taken <- fetchProfile(ctx, server.Process, filepath.Join(r.Profiles, path.Name+".pprof")) }()
	plan := contest.Plan{Rounds: 1, Length: (profiled + 1) * time.Second}
	if _, err := plan.Run(ctx, r.world, path, grownConnections, []contest.Contestant{server}); err != nil {
		return err
	}
	return <-taken
}

func fetchProfile(ctx context.Context, server *world.Process, file string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*profiled*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", server.Operator, profiled), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+world.OperatorToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server's profile: %s", response.Status)
	}
	kept, err := os.Create(file)
	if err != nil {
		return err
	}
	defer kept.Close()
	_, err = io.Copy(kept, response.Body)
	return err
}
