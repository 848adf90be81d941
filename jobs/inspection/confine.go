package inspection

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is the user and group a child of root becomes.
const nobody = 65534

// resourceLimits are what the kernel holds the child to, soft and hard alike.
var resourceLimits = []struct {
	resource int
	most     uint64
}{
	{unix.RLIMIT_DATA, maxData},
	{unix.RLIMIT_AS, maxAddresses},
	{unix.RLIMIT_CPU, cpuTime},
	{unix.RLIMIT_FSIZE, maxWritten},
	{unix.RLIMIT_NOFILE, maxOpen},
	{unix.RLIMIT_CORE, 0},
}

// confine gives up root and sets the limits, for good. It runs before a byte of the file is read. The folder and the file
// were opened before, so neither need be reachable for nobody.
func confine() error {
	for _, limit := range resourceLimits {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return fmt.Errorf("limit %d: %w", limit.resource, err)
		}
	}
	if syscall.Geteuid() != 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("give up groups: %w", err)
	}
	if err := syscall.Setresgid(nobody, nobody, nobody); err != nil {
		return fmt.Errorf("give up group: %w", err)
	}
	if err := syscall.Setresuid(nobody, nobody, nobody); err != nil {
		return fmt.Errorf("give up root: %w", err)
	}
	if syscall.Setuid(0) == nil {
		return errors.New("root can be had back")
	}
	return nil
}
