package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of times in /proc/<pid>/stat; Linux reports hundredths of a second on every architecture.
const tick = 10 * time.Millisecond

// stat holds fields of /proc/<pid>/stat.
type stat struct {
	parent int
	// used is the processor time of the process, ended that of its ended children.
	used, ended time.Duration
}

// Positions of the fields after the name of the program, which stands in parentheses and may contain anything.
const (
	fieldParent      = 1
	fieldUser        = 11
	fieldSystem      = 12
	fieldEndedUser   = 13
	fieldEndedSystem = 14
)

func readStat(pid int) (stat, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) <= fieldEndedSystem {
		return stat{}, fmt.Errorf("machine: /proc/%d/stat is too short", pid)
	}
	var s stat
	s.parent, err = strconv.Atoi(fields[fieldParent])
	ticks := func(field int) time.Duration {
		n, bad := strconv.ParseInt(fields[field], 10, 64)
		err = errors.Join(err, bad)
		return time.Duration(n) * tick
	}
	s.used = ticks(fieldUser) + ticks(fieldSystem)
	s.ended = ticks(fieldEndedUser) + ticks(fieldEndedSystem)
	return s, err
}

// CPU returns the processor time that a process has used so far, in steps of 10 ms.
func CPU(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	return s.used, err
}

// TreeCPU returns the processor time of a process and its children, including ended ones.
func TreeCPU(pid int) (time.Duration, error) {
	root, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	total := root.used + root.ended
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		child, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		s, err := readStat(child)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended since the folder was listed
		}
		if err != nil {
			return 0, err
		}
		if s.parent == pid {
			total += s.used
		}
	}
	return total, nil
}

// Parent returns the parent of a process.
func Parent(pid int) (int, error) {
	s, err := readStat(pid)
	return s.parent, err
}
