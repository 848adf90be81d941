package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// describe notes what is being measured.
func (r *run) describe(ctx context.Context) error {
	program, err := filepath.Abs(r.Server)
	if err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, program, "version").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", r.Server, err)
	}
	r.data.Commit, r.data.Go = strings.TrimSpace(string(version)), runtime.Version()
	return r.world.DB.QueryRowContext(ctx, "SHOW server_version").Scan(&r.data.Postgres)
}
