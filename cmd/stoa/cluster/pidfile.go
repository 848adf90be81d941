package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// pidFile is the content of postmaster.pid or of the lock file beside a socket.
type pidFile struct {
	pid     int
	started time.Time // to the second
	status  string    // postmaster.pid only: starting, ready, stopping
}

func readPIDFile(path string) (pidFile, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return pidFile{}, false
	}
	const pid, started, status = 0, 2, 7
	lines := strings.Split(string(b), "\n")
	if len(lines) <= started {
		return pidFile{}, false
	}
	number, err := strconv.Atoi(strings.TrimSpace(lines[pid]))
	if err != nil {
		return pidFile{}, false
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(lines[started]), 10, 64)
	if err != nil {
		return pidFile{}, false
	}
	r := pidFile{pid: number, started: time.Unix(seconds, 0)}
	if len(lines) > status {
		r.status = strings.TrimSpace(lines[status])
	}
	return r, true
}

// removeStalePIDFiles removes lock files whose process is dead or another one with the same pid. PostgreSQL compares pids alone
// and would refuse to start, for instance in a container that was started again, or if a killed postmaster has not been reaped
// yet. The caller holds the folder's flock.
func (c *Cluster) removeStalePIDFiles() error {
	for _, name := range []string{"postmaster.pid", socketFile + ".lock"} {
		path := filepath.Join(c.folder, name)
		if r, ok := readPIDFile(path); !ok || !r.stale() {
			continue
		}
		c.log.Warn("removing a stale lock file", "file", path)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stale reports that the process of the recorded pid does not run the cluster: it is of another program, started later, or is
// dead.
func (r pidFile) stale() bool {
	if r.pid < 0 {
		r.pid = -r.pid // single-user mode
	}
	now, err := readProcess(r.pid)
	if err != nil {
		return false // PostgreSQL itself sees that the process is gone
	}
	if now.zombie || now.name != "postgres" {
		return true
	}
	const slack = 5 * time.Second
	born, err := now.startTime()
	return err == nil && born.After(r.started.Add(slack))
}
