package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuTime returns the processor time that the running threads of processes have used so far. Go and PostgreSQL seldom end one.
func cpuTime(pids ...int) (total time.Duration, err error) {
	for _, pid := range pids {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			return 0, err
		}
		for _, thread := range threads {
			raw, err := os.ReadFile(thread)
			if err != nil {
				continue // it has ended
			}
			nanoseconds, _, _ := strings.Cut(string(raw), " ")
			used, err := strconv.ParseInt(nanoseconds, 10, 64)
			if err != nil {
				return 0, err
			}
			total += time.Duration(used)
		}
	}
	return total, nil
}

// postgresTime returns the processor time of the postmaster's children, including those that have ended.
func postgresTime(postmaster int) (time.Duration, error) {
	const tick = 10 * time.Millisecond
	const endedUser, endedSystem = 13, 14 // fields after the name, which stands in parentheses
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", postmaster))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	var ended int
	for _, field := range []int{endedUser, endedSystem} {
		ticks, err := strconv.Atoi(fields[field])
		if err != nil {
			return 0, err
		}
		ended += ticks
	}
	running, err := children(postmaster)
	if err != nil {
		return 0, err
	}
	total, err := cpuTime(running...)
	return total + time.Duration(ended)*tick, err
}

// children lists the children of a process.
func children(pid int) (all []int, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, err
	}
	for field := range strings.FieldsSeq(string(raw)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		all = append(all, child)
	}
	return all, nil
}
