package inspection

import (
	"regexp"
	"syscall"
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
	// Crashed says that it ended without a verdict for a reason that is not known to be the file: it was killed, broke down, or was
	// given too little of the processor. The same file may be inspected again.
	Crashed Ending = "crashed"
)

// spentTime of the processor is far more than a sound file takes. A child that ended after so much of it reached a limit, whether its
// own or its 15 s; one that was ended with less was waiting for the machine.
const spentTime = cpuTime * time.Second * 2 / 3

// outOfMemory is what the Go runtime, GLib, the C++ library and libvips print before they end a process for want of memory.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|[Ff]ailed to allocate|bad_alloc|pthread_create failed`)

// ending tells how the child ended.
func (p *process) ending() Ending {
	state := p.cmd.ProcessState
	status, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case state.ExitCode() == 0:
		return Judged
	case status.Signaled() && status.Signal() == syscall.SIGXCPU,
		state.UserTime()+state.SystemTime() >= spentTime,
		state.ExitCode() == exitPanic && outOfMemory.Match(p.said.kept):
		return Limited
	default:
		return Crashed
	}
}
