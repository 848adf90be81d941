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
	// Crashed says that a decoder failed on the file in a way that ended the process: a signal, an abort.
	Crashed Ending = "crashed"
	// killed says that somebody else ended it, such as the kernel when the machine was out of memory. Run makes it an error.
	killed Ending = "killed"
)

// outOfMemory is what the Go runtime, GLib, the C++ library and libvips print before they end a process for want of memory.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|[Ff]ailed to allocate|bad_alloc|pthread_create failed`)

// ending tells how the child ended, late or by itself.
func (p *process) ending(late bool) Ending {
	state := p.cmd.ProcessState
	status, _ := state.Sys().(syscall.WaitStatus)
	spent := state.UserTime() + state.SystemTime()
	switch {
	case late, state.ExitCode() == exitLate, status.Signaled() && status.Signal() == syscall.SIGXCPU:
		return Limited
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		if spent >= cpuTime*time.Second-cpuSlack {
			return Limited
		}
		return killed
	case state.ExitCode() == 0:
		return Judged
	case state.ExitCode() == exitPanic && outOfMemory.Match(p.said.kept):
		return Limited
	}
	return Crashed
}

// cpuSlack is by how much the kernel's two accounts of processor time may differ.
const cpuSlack = time.Second
