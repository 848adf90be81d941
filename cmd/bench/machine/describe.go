package machine

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Description is what machine this is.
type Description struct {
	Processor string
	Cores     int
	MemoryGiB int
	Kernel    string
	Load      string
}

// Describe reads it; what cannot be read stays empty.
func Describe() Description {
	d := Description{
		Processor: valueOf("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(),
		Kernel: content("/proc/sys/kernel/osrelease"), Load: Load(),
	}
	kib, err := strconv.Atoi(strings.TrimSuffix(valueOf("/proc/meminfo", "MemTotal"), " kB"))
	if err == nil {
		d.MemoryGiB = (kib + 1<<19) >> 20
	}
	return d
}

// Load is the load average of the last minute: what else ran shows in it.
func Load() string {
	first, _, _ := strings.Cut(content("/proc/loadavg"), " ")
	return first
}

func content(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// valueOf finds the first line `name : value` of a file.
func valueOf(path, name string) string {
	for line := range strings.Lines(content(path)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
