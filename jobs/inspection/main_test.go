package inspection

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestMain lets Run find the child half in the test binary, and the tests of the parent half a child that misbehaves.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Subcommand {
		os.Exit(child(os.Args[2:], stepsWithout(os.Getenv(without)), attackOrInspect))
	}
	if folder, ok := os.LookupEnv(serverFolder); ok {
		if err := serveHostile(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	spentTime = 600 * time.Millisecond // "spin" ends after a second
	os.Exit(m.Run())
}
