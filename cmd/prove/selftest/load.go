package selftest

import (
	"fmt"
	"os"
)

// Load is how many programs wanted the machine on average over the last minute; 0 if that is not known.
func Load() (load float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return 0
	}
	return load
}
