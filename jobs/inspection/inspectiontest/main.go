// Package inspectiontest makes a test binary the program that inspects files, for packages whose tests inspect files.
package inspectiontest

import (
	"os"

	"stoa/jobs/inspection"
	"stoa/jobs/inspection/render"
)

// self is this very binary.
const self = "/proc/self/exe"

// Main does the work of a child process and ends it; elsewhere it makes this binary the child's program. TestMain calls it first.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == inspection.Subcommand {
		os.Exit(inspection.Main(os.Args[1:], render.Renderer{}))
	}
	inspection.UseProgram(self)
}
