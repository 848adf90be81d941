package inspection

import (
	"errors"
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// What Landlock lets the child do. Nothing may be executed; links, pipes, sockets and devices may not be made.
const (
	mayRead  = landlock.AccessFSSet(ll.AccessFSReadFile | ll.AccessFSReadDir)
	mayWrite = mayRead | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSRemoveFile |
		ll.AccessFSRemoveDir
)

// restrictFiles lets the child read the readable folders and work in its own, and, as far as the kernel's Landlock goes, keeps it from
// TCP, abstract sockets and signals to others.
func restrictFiles(circumstances) (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return "", errors.New("the kernel has no Landlock, or it is switched off")
	}
	err = landlock.V11.BestEffort().Restrict(
		landlock.PathAccess(mayRead, append(readable, links...)...).IgnoreIfMissing(),
		landlock.PathAccess(mayWrite, "."))
	return fmt.Sprintf("ABI %d", abi), err
}
