package inspection

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Measure is one thing that confines the child, and whether the kernel at hand grants it.
type Measure struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	// Detail says how it holds, or why it does not.
	Detail string `json:"detail"`
}

// childConfig holds how the child was started. It is passed as arguments.
type childConfig struct {
	// user is the user and group that a child of root becomes; 0 says that it stays what it is.
	user int
	// namespaces are those that are the child's own.
	namespaces namespaces
}

func (c childConfig) arguments() []string {
	return []string{Subcommand, strconv.Itoa(c.user), strconv.FormatUint(uint64(c.namespaces.flags), 16)}
}

func parseChildConfig(args []string) (childConfig, error) {
	if len(args) != 3 || args[0] != Subcommand {
		return childConfig{}, errors.New("only stoa starts " + Program + ": it inspects one file and ends")
	}
	user, err := strconv.Atoi(args[1])
	if err != nil {
		return childConfig{}, err
	}
	flags, err := strconv.ParseUint(args[2], 16, 32)
	return childConfig{user: user, namespaces: namespaces{flags: uintptr(flags)}}, err
}

// step takes one measure. It returns a detail for Measure, or why the measure does not hold.
type step struct {
	name string
	take func(childConfig) (detail string, err error)
	// required ends the child where the measure does not hold. Every kernel grants these.
	required bool
}

// steps confine the child, in this order: each may need what a later one takes away.
var steps = []step{
	{"namespaces", reportNamespaces, false},
	{"root folder", changeRoot, false},
	{"user", changeUser, false},
	{"capabilities", dropCapabilities, true},
	{"no new privileges", forbidPrivileges, true},
	{"resource limits", limitResources, true},
	{"landlock", restrictFiles, false},
	{"seccomp", filterCalls, false},
}

// confine takes every step permanently. It runs before a byte of the file is read.
func confine(c childConfig, steps []step) ([]Measure, error) {
	measures := make([]Measure, 0, len(steps))
	for _, s := range steps {
		detail, err := s.take(c)
		if err != nil && (s.required || errors.Is(err, errNoProc)) {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if err != nil {
			detail = err.Error()
		}
		measures = append(measures, Measure{Name: s.name, Holds: err == nil, Detail: detail})
	}
	return measures, nil
}

// reportNamespaces reports which namespaces the parent has made.
func reportNamespaces(c childConfig) (string, error) {
	if c.namespaces.flags == 0 {
		return "", errors.New("the kernel refuses namespaces to this user")
	}
	return c.namespaces.String(), nil
}

// changeUser gives up root for a user that owns nothing.
func changeUser(c childConfig) (string, error) {
	switch {
	case os.Getuid() != 0:
		return "", errors.New("the server's own: only root can choose another")
	case c.user == 0:
		return "", errors.New("root without capabilities: no other user can be had here")
	}
	if err := syscall.Setgroups(nil); err != nil {
		return "", fmt.Errorf("give up groups: %w", err)
	}
	if err := syscall.Setresgid(c.user, c.user, c.user); err != nil {
		return "", fmt.Errorf("give up group: %w", err)
	}
	if err := syscall.Setresuid(c.user, c.user, c.user); err != nil {
		return "", fmt.Errorf("give up root: %w", err)
	}
	if syscall.Setuid(0) == nil {
		return "", errors.New("root can be had back")
	}
	return fmt.Sprintf("%d, which owns nothing", c.user), nil
}

// dropCapabilities takes away what root has left or what the user namespace came with, on every thread, and closes the process
// to others of the same user.
func dropCapabilities(childConfig) (string, error) {
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
func forbidPrivileges(childConfig) (string, error) {
	if _, _, failed := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); failed != 0 {
		return "", failed
	}
	return "set", nil
}

// resourceLimits are set as soft and hard limits of the child.
var resourceLimits = []struct {
	resource int
	most     uint64
	// perUser says that the kernel counts all processes of the user, so that the limit fits a user of the child's own only.
	perUser bool
}{
	{unix.RLIMIT_DATA, maxData, false},
	{unix.RLIMIT_AS, maxAddresses, false},
	{unix.RLIMIT_CPU, copyTime, false},
	{unix.RLIMIT_FSIZE, maxWritten, false},
	{unix.RLIMIT_NOFILE, maxOpen, false},
	{unix.RLIMIT_CORE, 0, false},
	{unix.RLIMIT_MSGQUEUE, 0, false},
	{unix.RLIMIT_MEMLOCK, 0, false},
	{unix.RLIMIT_NPROC, maxThreads, true},
}

// ownUser reports whether no process outside counts towards the child's RLIMIT_NPROC: since Linux 5.14 it is counted per user
// namespace.
func (c childConfig) ownUser() bool {
	return c.user != 0 || c.namespaces.flags&unix.CLONE_NEWUSER != 0
}

func limitResources(c childConfig) (string, error) {
	for _, limit := range resourceLimits {
		if limit.perUser && !c.ownUser() {
			continue
		}
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return "", fmt.Errorf("limit %d: %w", limit.resource, err)
		}
	}
	if !c.ownUser() {
		return "set, but for the number of threads", nil
	}
	return "set", nil
}

// What Landlock lets the child do. Nothing may be executed; links, pipes, sockets and devices may not be made.
const (
	mayRead  = landlock.AccessFSSet(ll.AccessFSReadFile | ll.AccessFSReadDir)
	mayWrite = mayRead | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg | ll.AccessFSMakeDir |
		ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
)

// restrictFiles lets the child read the readable folders and work in its own, and, as far as the kernel's Landlock goes, keeps it
// from TCP, abstract sockets and signals to others.
func restrictFiles(childConfig) (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return "", errors.New("the kernel has no Landlock, or it is switched off")
	}
	err = landlock.V11.BestEffort().Restrict(
		landlock.PathAccess(mayRead, append(readable, links...)...).IgnoreIfMissing(),
		landlock.PathAccess(mayWrite, "."))
	return fmt.Sprintf("ABI %d", abi), err
}
