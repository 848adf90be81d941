package inspection

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are those that a child is started in.
type namespaces struct{ flags uintptr }

// namespaceNames are in the order in which a list names them.
var namespaceNames = []struct {
	flag uintptr
	name string
}{
	{unix.CLONE_NEWNET, "network"},
	{unix.CLONE_NEWPID, "process"},
	{unix.CLONE_NEWIPC, "IPC"},
	{unix.CLONE_NEWNS, "mount"},
	{unix.CLONE_NEWUSER, "user"},
}

// String lists the namespaces.
func (n namespaces) String() string {
	var names []string
	for _, known := range namespaceNames {
		if n.flags&known.flag != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, ", ")
}

// namespaceSets are tried from the first to the last, until the kernel grants one. The middle one is for containers that mask
// parts of /proc: a process namespace needs a new /proc.
var namespaceSets = []namespaces{
	{unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWNS},
	{unix.CLONE_NEWNET | unix.CLONE_NEWIPC},
	{0},
}

// granted is the index of the row of namespaceSets that this kernel is known to grant.
var granted atomic.Int32

// deny notes that the kernel refuses a row of namespaceSets, and reports whether there is a weaker one.
func deny(index int32) bool {
	if int(index)+1 >= len(namespaceSets) {
		return false
	}
	granted.CompareAndSwap(index, index+1)
	return true
}

// refusesNamespaces reports whether a process could not be started because of its namespaces.
func refusesNamespaces(err error) bool {
	for _, refusal := range []error{unix.EPERM, unix.EINVAL, unix.ENOSPC, unix.ENOSYS, unix.EUSERS, unix.EACCES} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// attributes put a child into its namespaces. Where the server is not root, they belong to a user namespace, in which the child
// has the one capability that changing its root takes. That namespace maps no user: nothing in it can be root.
func (n namespaces) attributes() (namespaces, *syscall.SysProcAttr) {
	attributes := &syscall.SysProcAttr{Setsid: true}
	if n.flags != 0 && os.Geteuid() != 0 {
		n.flags |= unix.CLONE_NEWUSER
		attributes.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	attributes.Cloneflags = n.flags
	return n, attributes
}

// Users that a child of root may become: a range that distributions and systemd leave alone.
const (
	firstUser = 1_879_048_192
	someUsers = 65_536
)

// pickUser returns a user for one child: one without an account, and another for each, so that children cannot reach each other
// either. It returns 0 if this process is not root or may not choose.
func pickUser() int {
	if os.Geteuid() != 0 {
		return 0
	}
	first, many := userRange()
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

// userRange is the range to choose from: in a container whose users are mapped it is the upper half of the mapped ids.
func userRange() (first, many int) {
	file, err := os.Open("/proc/self/uid_map")
	if err != nil {
		return firstUser, someUsers
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var inside, outside, count int
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &count); err != nil {
			continue
		}
		if inside <= firstUser && firstUser+someUsers <= inside+count {
			return firstUser, someUsers
		}
		if half := count / 2; half > many {
			first, many = inside+count-half, half
		}
	}
	return first, many
}

// closeOnExec keeps all open files of this process from its children.
func closeOnExec() {
	_ = unix.CloseRange(uint(unix.Stderr+1), ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11; closeDescriptors does the rest
}

// command is a child in its namespaces, as a user, not started yet. path is that of its program.
func command(path, work string, user int, in namespaces) *exec.Cmd {
	with, attributes := in.attributes()
	cmd := exec.CommandContext(context.Background(), path, childConfig{user: user, namespaces: with}.arguments()...)
	cmd.Args[0] = Program
	cmd.Dir = work
	cmd.Env = environment
	cmd.SysProcAttr = attributes
	return cmd
}
