package inspection

import (
	"errors"
	"fmt"
	"os"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// allowed are the system calls of the Go runtime, glibc and the decoders once the child is confined. Everything else fails with
// EPERM: sockets, exec, ptrace, mounts, other processes' memory, keys, io_uring, perf, bpf, userfaultfd and future calls. A name
// that an architecture does not have is left out there.
var allowed = []string{
	// Memory
	"brk", "madvise", "membarrier", "mincore", "mmap", "mprotect", "mremap", "munmap",
	// Files
	"access", "close", "close_range", "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate",
	"fdatasync", "flock",
	"fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents64", "lseek", "lstat", "mkdir", "mkdirat", "newfstatat",
	"open", "openat",
	"pipe2", "pread64", "preadv", "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv", "rename", "renameat",
	"renameat2",
	"rmdir", "stat", "statfs", "statx", "unlink", "unlinkat", "write", "writev",
	// Waiting
	"clock_nanosleep", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "futex", "nanosleep", "poll",
	"ppoll",
	"pselect6", "restart_syscall", "sched_yield", "select",
	// Threads and signals
	"exit", "exit_group", "get_robust_list", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn",
	"rt_sigtimedwait",
	"sched_getaffinity", "sched_getparam", "sched_getscheduler", "set_robust_list", "set_tid_address", "sigaltstack",
	"arch_prctl",
	// Questions
	"clock_getres", "clock_gettime", "getegid", "geteuid", "getgid", "getpid", "getppid", "getpriority", "getrandom",
	"getresgid",
	"getresuid", "getrlimit", "getrusage", "getsid", "gettid", "gettimeofday", "getuid", "sysinfo", "time", "times", "uname",
}

// conditional are the calls that are allowed with certain arguments only. Rows of the same name are alternatives.
func conditional() []seccomp.NameWithConditions {
	itself := uint64(os.Getpid())
	rows := []seccomp.NameWithConditions{
		when("clone", 0, seccomp.BitsSet, unix.CLONE_THREAD), // a thread, never a process
		when("kill", 0, seccomp.Equal, itself),
		when("tgkill", 0, seccomp.Equal, itself),
		when("prlimit64", 0, seccomp.Equal, 0),
	}
	for _, option := range []uint64{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA} {
		rows = append(rows, when("prctl", 0, seccomp.Equal, option))
	}
	for _, command := range []uint64{unix.F_DUPFD, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC} {
		rows = append(rows, when("fcntl", 1, seccomp.Equal, command))
	}
	return rows
}

func when(name string, argument uint32, operation seccomp.Operation, value uint64) seccomp.NameWithConditions {
	return seccomp.NameWithConditions{
		Name: name, Conditions: seccomp.ArgumentConditions{{Argument: argument, Operation: operation, Value: value}},
	}
}

// absent is how the filter answers clone3, whose flags it cannot see, so that glibc uses clone.
const absent = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)

// filterCalls applies the filter to every thread.
func filterCalls(int) (string, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return "", err
	}
	if !seccomp.Supported() {
		return "", errors.New("the kernel has no seccomp filters")
	}
	known := slices.DeleteFunc(slices.Clone(allowed), func(name string) bool { _, ok := info.SyscallNames[name]; return !ok })
	filter := seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionErrno,
			Syscalls: []seccomp.SyscallGroup{
				{Action: absent, Names: []string{"clone3"}},
				{Action: seccomp.ActionAllow, Names: known, NamesWithCondtions: conditional()},
			},
		},
	}
	return fmt.Sprintf("%d system calls", len(known)), seccomp.LoadFilter(filter)
}
