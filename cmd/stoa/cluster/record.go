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

// record is a PostgreSQL lock file: postmaster.pid, or the one beside a socket.
type record struct {
	pid     int
	started time.Time // to the second
	status  string    // postmaster.pid only: starting, ready, stopping
}

func readRecord(path string) (record, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return record{}, false
	}
	const pid, started, status = 0, 2, 7
	lines := strings.Split(string(b), "\n")
	if len(lines) <= started {
		return record{}, false
	}
	number, err := strconv.Atoi(strings.TrimSpace(lines[pid]))
	if err != nil {
		return record{}, false
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(lines[started]), 10, 64)
	if err != nil {
		return record{}, false
	}
	r := record{pid: number, started: time.Unix(seconds, 0)}
	if len(lines) > status {
		r.status = strings.TrimSpace(lines[status])
	}
	return r, true
}

// clearForeign removes lock files whose pid belongs to a process that is not
// the one that wrote them, or is that one's remains. PostgreSQL judges by the
// pid alone and would refuse to start, for instance in a container that was
// started again, or where nobody has reaped a killed postmaster yet. The caller
// holds the folder's flock.
func (c *Cluster) clearForeign() error {
	for _, name := range []string{"postmaster.pid", socketFile + ".lock"} {
		path := filepath.Join(c.folder, name)
		if r, ok := readRecord(path); !ok || !r.foreign() {
			continue
		}
		c.log.Warn("removing a stale lock file", "file", path)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// foreign reports that the recorded pid is taken by what does not run the
// cluster: a process of another program, one that started later, or a dead one.
func (r record) foreign() bool {
	if r.pid < 0 {
		r.pid = -r.pid // single-user mode
	}
	now, err := look(r.pid)
	if err != nil {
		return false // PostgreSQL sees for itself that nobody is there
	}
	if now.zombie || now.name != "postgres" {
		return true
	}
	const slack = 5 * time.Second
	born, err := now.born()
	return err == nil && born.After(r.started.Add(slack))
}
