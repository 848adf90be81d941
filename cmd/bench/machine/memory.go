package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what a process holds, in bytes.
type Memory struct {
	// Resident counts every page in memory, Proportional shared ones by its share of them only.
	Resident, Proportional int64
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
		target := map[string]*int64{"Rss": &m.Resident, "Pss": &m.Proportional}[name]
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
