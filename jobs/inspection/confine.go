package inspection

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Measure is one measure that confines the child, and whether the kernel grants it.
type Measure struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	// Detail describes how it holds, or the reason if it does not.
	Detail string `json:"detail"`
}

// step takes one measure. It returns a detail for Measure, or an error if the measure does not hold.
type step struct {
	name string
	// account is the user and group that a child of root becomes; 0 changes nothing.
	take func(account int) (detail string, err error)
	// required: the child ends if the measure does not hold. Every kernel grants the required ones.
	required bool
}

// steps confine the child, in this order: each may need rights that a later one takes away.
var steps = []step{
	{"user", changeUser, false},
	{"capabilities", dropCapabilities, true},
	{"no new privileges", forbidPrivileges, true},
	{"resource limits", limitResources, true},
	{"landlock", restrictFiles, false},
	{"seccomp", filterCalls, false},
}

// confine takes every step permanently. It runs before a byte of the file is read.
func confine(account int, steps []step) ([]Measure, error) {
	measures := make([]Measure, 0, len(steps))
	for _, s := range steps {
		detail, err := s.take(account)
		if err != nil && s.required {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if err != nil {
			detail = err.Error()
		}
		measures = append(measures, Measure{Name: s.name, Holds: err == nil, Detail: detail})
	}
	return measures, nil
}

// Accounts that a child of root may become: a range that distributions and systemd leave alone.
const (
	firstAccount = 1_879_048_192
	someAccounts = 65_536
)

// pickAccount returns the id of a user without an account, for one child. Each child gets another id, so that children cannot
// reach each other. It returns 0 if this process is not root or may not choose.
func pickAccount() int {
	if os.Geteuid() != 0 {
		return 0
	}
	first, many := accountRange()
	for range 10 {
		if many == 0 {
			break
		}
		id := first + rand.IntN(many)
		if _, err := user.LookupId(strconv.Itoa(id)); err != nil && id != 0 {
			return id
		}
	}
	return 0
}

// accountRange is the range to choose from. In a container whose users are mapped it lies in the upper half of the mapped ids.
func accountRange() (first, many int) {
	mapping, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return firstAccount, someAccounts
	}
	for line := range strings.Lines(string(mapping)) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && count/2 > many {
			first, many = inside+count-count/2, count/2
		}
	}
	return min(first, firstAccount), min(many, someAccounts)
}

// changeUser gives up root for a user that owns nothing.
func changeUser(account int) (string, error) {
	switch {
	case os.Getuid() != 0:
		return "", errors.New("the server's own: only root can choose another")
	case account == 0:
		return "", errors.New("root without capabilities: no other user can be had here")
	}
	if err := syscall.Setgroups(nil); err != nil {
		return "", fmt.Errorf("give up groups: %w", err)
	}
	if err := syscall.Setresgid(account, account, account); err != nil {
		return "", fmt.Errorf("give up group: %w", err)
	}
	if err := syscall.Setresuid(account, account, account); err != nil {
		return "", fmt.Errorf("give up root: %w", err)
	}
	if syscall.Setuid(0) == nil {
		return "", errors.New("root can be had back")
	}
	return fmt.Sprintf("%d, which owns nothing", account), nil
}

// dropCapabilities takes root's remaining rights away, on every thread, and closes the process to others of the same user.
func dropCapabilities(int) (string, error) {
	if _, _, failed := psx.Syscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); failed != 0 {
		return "", failed
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	//nolint:gosec // the call takes this pointer
	_, _, failed := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if failed != 0 {
		return "", failed
	}
	return "none", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// forbidPrivileges sets no_new_privs on every thread.
func forbidPrivileges(int) (string, error) {
	if _, _, failed := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); failed != 0 {
		return "", failed
	}
	return "set", nil
}

// resourceLimits are set as soft and hard limits of the child.
var resourceLimits = map[int]uint64{
	unix.RLIMIT_CPU: copyTime, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: maxOpen,
	unix.RLIMIT_CORE: 0, unix.RLIMIT_MSGQUEUE: 0, unix.RLIMIT_MEMLOCK: 0,
}

func limitResources(account int) (string, error) {
	threads := uint64(maxThreads)
	if account == 0 || os.Getuid() != account { // the kernel counts the account's threads, at most all of the machine
		var machine unix.Sysinfo_t
		if err := unix.Sysinfo(&machine); err != nil {
			return "", err
		}
		threads += uint64(machine.Procs)
	}
	var pages uint64
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return "", err
	}
	if _, err := fmt.Sscan(string(statm), &pages); err != nil {
		return "", err
	}
	limits := maps.Clone(resourceLimits)
	limits[unix.RLIMIT_NPROC] = threads
	limits[unix.RLIMIT_AS] = pages*uint64(os.Getpagesize()) + maxAdded
	for resource, most := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return "", fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	return "set", nil
}

// readable are the folders that decoders may read: libraries loaded late, character sets, fonts. Everything in them is public.
var readable = []string{
	"/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/var/cache/fontconfig", "/lib", "/lib64",
}

// mayRead is everything that Landlock lets the child do with files.
const mayRead = landlock.AccessFSSet(ll.AccessFSReadFile | ll.AccessFSReadDir)

// restrictFiles lets the child read only the readable folders. If the kernel's Landlock supports it, it also denies TCP, abstract
// sockets and signals to other processes.
func restrictFiles(int) (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return "", errors.New("the kernel has no Landlock, or it is switched off")
	}
	err = landlock.V11.BestEffort().Restrict(landlock.PathAccess(mayRead, readable...).IgnoreIfMissing())
	return fmt.Sprintf("ABI %d", abi), err
}

// allowed are the system calls of the Go runtime, glibc and the decoders once the child is confined. Everything else fails with
// EPERM: sockets, exec, ptrace, mounts, other processes' memory, keys, io_uring, perf, bpf, userfaultfd and future calls. A name
// that an architecture does not have is left out there.
var allowed = []string{
	// Memory
	"brk", "madvise", "membarrier", "mincore", "mmap", "mprotect", "mremap", "munmap",
	// Files
	"access", "close", "close_range", "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate", "fdatasync",
	"flock", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents64", "lseek", "lstat", "mkdir", "mkdirat", "newfstatat",
	"open", "openat", "pipe2", "pread64", "preadv", "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv", "rename",
	"renameat", "renameat2", "rmdir", "stat", "statfs", "statx", "unlink", "unlinkat", "write", "writev",
	// Waiting
	"clock_nanosleep", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "futex", "nanosleep", "poll",
	"ppoll", "pselect6", "restart_syscall", "sched_yield", "select",
	// Threads and signals
	"exit", "exit_group", "get_robust_list", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn",
	"rt_sigtimedwait", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "set_robust_list", "set_tid_address",
	"sigaltstack", "arch_prctl",
	// Questions
	"clock_getres", "clock_gettime", "getegid", "geteuid", "getgid", "getpid", "getppid", "getpriority", "getrandom", "getresgid",
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
