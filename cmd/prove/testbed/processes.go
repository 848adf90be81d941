package testbed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// PID is the process id of a server that runs.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.PID
}

// DatabasePID is the process id of the database, whose children are its other processes. It is not for a bed with a standby.
func (b *Bed) DatabasePID() int {
	b.Database.mu.Lock()
	defer b.Database.mu.Unlock()
	return b.Database.process.PID
}

// BalancerPID is the process id of the load balancer, which works in a child.
func (b *Bed) BalancerPID() int { return b.balancer.process.PID }

// period is the time in microseconds for which a group of processes gets its share of the processor. It is short, so that a server
// that has used up its share waits for milliseconds only.
const period = 10_000

// MinCores is the smallest share of the processor that a server can be bounded to.
const MinCores = 0.1

// The roots of the hierarchies of cgroups: that of version 1 whose controller is the processor, and the one of version 2.
const (
	firstRoot  = "/sys/fs/cgroup/cpu"
	secondRoot = "/sys/fs/cgroup"
)

var errNoShares = errors.New("bounding a server's share of the processor needs root, and the controller cpu of cgroups")

// Shares returns nil where servers can be bounded to a share of the processor, else an error that says what is missing.
func Shares() error {
	_, err := sharesRoot()
	return err
}

func sharesRoot() (string, error) {
	if os.Geteuid() != 0 {
		return "", errNoShares
	}
	if _, err := os.Stat(filepath.Join(firstRoot, "cpu.cfs_quota_us")); err == nil {
		return firstRoot, nil
	}
	controllers, _ := os.ReadFile(filepath.Join(secondRoot, "cgroup.controllers")) // there are none without that file
	if !slices.Contains(strings.Fields(string(controllers)), "cpu") {
		return "", errNoShares
	}
	return secondRoot, write(secondRoot, "cgroup.subtree_control", "+cpu")
}

func write(folder, name, text string) error {
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)
}

// SetCores bounds a running server to a share of the processor, such as half a core, or to none for 0. Child processes that it has
// already stay without a bound.
func (s *Server) SetCores(cores float64) error {
	root, err := sharesRoot()
	if err != nil {
		return err
	}
	folder := filepath.Join(root, filepath.Base(s.bed.Folder)+"-"+s.Name)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.group = folder
	quota := strconv.Itoa(int(cores * period))
	if cores == 0 {
		quota = map[string]string{firstRoot: "-1", secondRoot: "max"}[root]
	}
	if root == firstRoot {
		err = errors.Join(write(folder, "cpu.cfs_period_us", strconv.Itoa(period)), write(folder, "cpu.cfs_quota_us", quota))
	} else {
		err = write(folder, "cpu.max", quota+" "+strconv.Itoa(period))
	}
	return errors.Join(err, write(folder, "cgroup.procs", strconv.Itoa(s.PID())))
}

// removeGroup removes the group of a server that has ended, once what it had started has ended, too.
func (s *Server) removeGroup() (err error) {
	if s.group == "" {
		return nil
	}
	for range 20 {
		if err = os.Remove(s.group); !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(reviveGrace / 10)
	}
	return err
}

// childrenOf returns the process ids of the children of all threads of a process; none if it has ended.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
