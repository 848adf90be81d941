package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process identifies a process: a later one with the same pid has another start time.
type process struct {
	pid     int
	started uint64 // clock ticks since the machine started
}

// processState holds fields of /proc/<pid>/stat.
type processState struct {
	process
	name   string
	zombie bool // dead and not reaped, or past the point where it let go of its files
}

func readProcess(pid int) (processState, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return processState{}, err
	}
	// pid (name) state ppid ...; the name may hold anything, so the last bracket counts.
	open, shut := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || shut < open {
		return processState{}, fmt.Errorf("/proc/%d/stat is malformed", pid)
	}
	const state, flags, start = 0, 6, 19 // counted behind the name
	fields := strings.Fields(string(b[shut+1:]))
	if len(fields) <= start {
		return processState{}, fmt.Errorf("/proc/%d/stat is malformed", pid)
	}
	ticks, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return processState{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	set, err := strconv.ParseUint(fields[flags], 10, 64)
	if err != nil {
		return processState{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	const exiting = 0x4 // the kernel's PF_EXITING
	return processState{
		process: process{pid, ticks},
		name:    string(b[open+1 : shut]),
		zombie:  strings.ContainsAny(fields[state], "ZX") || set&exiting != 0,
	}, nil
}

// alive reports whether the process still runs; a zombie does not.
func (p process) alive() bool {
	now, err := readProcess(p.pid)
	return err == nil && now.process == p && !now.zombie
}

// startTime returns when the process started.
func (p process) startTime() (time.Time, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}, err
	}
	const tick = 10 * time.Millisecond // what Linux shows to programs, whatever it uses itself
	return time.Now().Add(time.Duration(p.started)*tick - time.Duration(up.Nano())), nil
}

// signal reaches the process unless it has ended.
func (p process) signal(s syscall.Signal) {
	if p.alive() {
		_ = syscall.Kill(p.pid, s) // it may have ended meanwhile, which is as good
	}
}

// leftovers returns the processes of the named cluster other than its postmaster: those of the account with that name in their
// title.
func leftovers(name string, a account) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		title, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || !bytes.HasPrefix(title, []byte("postgres: "+name+": ")) {
			continue
		}
		owner, err := ownerOf(filepath.Join("/proc", entry.Name()))
		if err != nil || owner.uid != a.uid {
			continue
		}
		if now, err := readProcess(pid); err == nil {
			found = append(found, now.process)
		}
	}
	return found
}
