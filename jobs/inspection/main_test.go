package inspection

import (
	"os"
	"testing"
)

// TestMain lets Run find the child half in the test binary, and the tests of the parent half a child that misbehaves.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == Subcommand {
		if misdeeds[os.Args[2]] != nil {
			os.Exit(misbehave(os.Args[2]))
		}
		os.Exit(Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}
