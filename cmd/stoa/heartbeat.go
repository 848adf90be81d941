package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"stoa/graph"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/rest"
)

const (
	// newConnectionsCheck is the name of the check for db.ErrRefusesConnections in the overview and the metrics; select_attention knows it.
	newConnectionsCheck = "new_connections"
	// heartbeatPeriod is how often a process reports itself, for the operators' overview (§10).
	heartbeatPeriod = 10 * time.Second
	// heartbeatTimeout bounds one report, including its checks.
	heartbeatTimeout = 5 * time.Second
	// heartbeatEnd bounds each of the two steps of its end.
	heartbeatEnd = 500 * time.Millisecond
)

// startHeartbeat reports this process to the database until its end, which removes the report.
func (p *process) startHeartbeat(domains *graph.Graph) {
	id, checks := uuid.Must(uuid.NewV7()), p.readinessChecks()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(heartbeatPeriod)
		defer ticker.Stop()
		for {
			p.beat(ctx, domains, id, checks)
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	p.atEnd(func(end context.Context) error {
		cancel()
		select {
		case <-ended:
		case <-time.After(heartbeatEnd): // a database that neither answers nor closes the connection
		}
		end, cancel := context.WithTimeout(end, heartbeatEnd)
		defer cancel()
		_ = domains.Operator.ForgetProcess(end, id) // a row that stays is forgotten after a day
		return nil
	})
}

// beat reports once. It ignores a database that does not answer, which other checks report.
func (p *process) beat(ctx context.Context, domains *graph.Graph, id uuid.UUID, checks map[string]rest.Check) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	told := operator.Process{
		ID: id, Name: processName(), Version: versionText(), Roles: p.settings.Roles, Failing: p.failing(ctx, checks),
	}
	told.DiskFreeBytes, told.DiskTotalBytes = diskSpace(p.settings.DataDir)
	if err := domains.Operator.RecordProcess(ctx, told); err != nil && ctx.Err() == nil {
		p.log.WarnContext(ctx, "the operators' overview may be out of date", "error", err)
	}
}

// failing returns the names of the readiness checks that fail, sorted.
func (p *process) failing(ctx context.Context, checks map[string]rest.Check) []string {
	failing := []string{}
	for name, check := range checks {
		if err := check(ctx); errors.Is(err, db.ErrRefusesConnections) {
			failing = append(failing, newConnectionsCheck)
		} else if err != nil {
			failing = append(failing, name)
		}
	}
	if p.draining.Load() {
		failing = append(failing, "shutting_down")
	}
	slices.Sort(failing)
	return failing
}

// processName returns the host name and the process id.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// diskSpace returns the free bytes for this process on the disk of a folder, and the disk's size; zeros if they are unknown.
func diskSpace(folder string) (free, total int64) {
	var found unix.Statfs_t
	if err := unix.Statfs(folder, &found); err != nil {
		return 0, 0
	}
	return int64(found.Bavail) * found.Bsize, int64(found.Blocks) * found.Bsize
}
