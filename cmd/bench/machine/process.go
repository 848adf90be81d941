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
	// ended is the processor time of the ended children.
	ended time.Duration
}

// Positions of the fields after the name of the program, which stands in parentheses and may contain anything.
const (
	fieldParent      = 1
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
	var numbers [3]int
	for i, field := range []int{fieldParent, fieldEndedUser, fieldEndedSystem} {
		if numbers[i], err = strconv.Atoi(fields[field]); err != nil {
			return stat{}, err
		}
	}
	return stat{parent: numbers[0], ended: time.Duration(numbers[1]+numbers[2]) * tick}, nil
}

// CPU returns the processor time that the running threads of a process have used so far. Go and PostgreSQL seldom end a thread.
func CPU(pid int) (total time.Duration, err error) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, err
	}
	for _, thread := range threads {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, thread.Name()))
		if isGone(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		nanoseconds, _, _ := strings.Cut(string(raw), " ")
		used, err := strconv.ParseInt(nanoseconds, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(used)
	}
	return total, nil
}

// isGone reports whether a process or thread ended after it was listed.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// TreeCPU returns the processor time of a process and its children, including ended ones.
func TreeCPU(pid int) (time.Duration, error) {
	root, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	total := root.ended
	processes, err := Tree(pid)
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		used, err := CPU(process)
		if err != nil && (process == pid || !isGone(err)) {
			return 0, err
		}
		total += used
	}
	return total, nil
}

// Tree lists a process and its children.
func Tree(pid int) ([]int, error) {
	tree := []int{pid}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		child, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		s, err := readStat(child)
		if err != nil && !isGone(err) {
			return nil, err
		}
		if err == nil && s.parent == pid {
			tree = append(tree, child)
		}
	}
	return tree, nil
}

// Parent returns the parent of a process.
func Parent(pid int) (int, error) {
	s, err := readStat(pid)
	return s.parent, err
}
