// Package machine reads the machine's description and the memory and processor time of processes from /proc. Linux only.
package machine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Description describes the machine.
type Description struct {
	Processor string
	Cores     int
	MemoryGiB int
	Kernel    string
	// Load is the load average of the last minute, as text.
	Load string
}

// Describe reads the description; what cannot be read stays empty.
func Describe() Description {
	load, _, _ := strings.Cut(content("/proc/loadavg"), " ")
	d := Description{
		Processor: valueOf("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(),
		Kernel: content("/proc/sys/kernel/osrelease"), Load: load,
	}
	kib, err := strconv.Atoi(strings.TrimSuffix(valueOf("/proc/meminfo", "MemTotal"), " kB"))
	if err == nil {
		d.MemoryGiB = (kib + 1<<19) >> 20
	}
	return d
}

func content(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// valueOf returns the value of the first line `name : value` of a file.
func valueOf(path, name string) string {
	for line := range strings.Lines(content(path)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Memory is the memory of a process in bytes.
type Memory struct {
	// Resident counts all pages in memory. Anonymous leaves out those of files, which the kernel can drop at any time.
	Resident, Anonymous int64
}

// MemoryOf reads the memory of a process.
func MemoryOf(pid int) (Memory, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		target := map[string]*int64{"Rss": &m.Resident, "Anonymous": &m.Anonymous}[name]
		if target == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("machine: memory of process %d: %w", pid, err)
		}
		*target = kib << 10
	}
	return m, nil
}

// Busy returns the processor time that all cores together have spent since the machine started on anything but idling, whatever the
// host of a virtual machine took away included.
func Busy() (time.Duration, error) {
	line, _, _ := strings.Cut(content("/proc/stat"), "\n")
	fields := strings.Fields(line)
	const user, idle, ioWait, steal = 1, 4, 5, 8
	if len(fields) <= steal {
		return 0, errors.New("machine: /proc/stat is too short")
	}
	var busy time.Duration
	for i := user; i <= steal; i++ {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		if i != idle && i != ioWait {
			busy += time.Duration(ticks) * tick
		}
	}
	return busy, nil
}
