package inspection

import (
	"bytes"
	"os"
	"time"
)

// Ending is how a child ended.
type Ending string

// The endings of a Report.
const (
	// Judged says that the child gave a verdict.
	Judged Ending = ""
	// Limited says that it reached a limit of time or memory.
	Limited Ending = "limited"
	// Crashed says that it ended without a verdict for a reason that is not known to be the file: it was killed, or broke down.
	// The same file may be inspected again.
	Crashed Ending = "crashed"
)

// spentTime of the processor is far more than a sound file takes. A child that was ended after so much of it, by its own limit
// or because its 15 s were over, reached a limit; one that was ended with less was waiting for the machine.
const spentTime = cpuTime * time.Second * 2 / 3

// outOfMemory are the words of the Go runtime, GLib and libvips, on standard error, when memory was refused to them.
var outOfMemory = [][]byte{[]byte("out of memory"), []byte("cannot allocate memory"), []byte("ailed to allocate")}

// endingOf says how a child ended that was ready and did not exit with 0.
func endingOf(state *os.ProcessState, complaint []byte) Ending {
	if state.UserTime()+state.SystemTime() >= spentTime {
		return Limited
	}
	for _, words := range outOfMemory {
		if bytes.Contains(complaint, words) {
			return Limited
		}
	}
	return Crashed
}
