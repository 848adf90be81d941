package inspection

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// self is this very binary.
const self = "/proc/self/exe"

// RunTests makes the test binary the child's program, also one that misbehaves, and the server of the tests of confinement; else it
// runs the tests.
func RunTests(m *testing.M, with Renderer) int {
	if len(os.Args) > 1 && os.Args[1] == Subcommand {
		inspect := func(file []byte, asked request) (response, error) { return attackOr(with, file, asked) }
		return child(os.Args[1:], stepsWithout(os.Getenv(without)), inspect)
	}
	UseProgram(self)
	if folder, ok := os.LookupEnv(serverFolder); ok {
		if err := serveHostile(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	spentTime = 1500 * time.Millisecond // "spin" ends after two seconds, though the kernel counts in ticks and may miss some
	debug.SetMemoryLimit(maxMemory / 2) // within says why
	return m.Run()
}
