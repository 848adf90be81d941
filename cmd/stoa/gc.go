package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much the heap may grow between collections, in percent of what is in use, unless GOGC says it. What is in use is
// little (7 MB); collecting as often as Go does by default is a fifth of the work of a request.
const gcPercent = 300

// setGC sets up the garbage collector of a serving process.
func setGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
