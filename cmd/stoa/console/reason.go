package console

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// reason is part of every command that changes something.
type reason struct {
	Reason string `env:"-" placeholder:"WHY" help:"Why, for the audit log; asked for on a terminal."`
}

// why returns the reason. Where none was given and nobody can be asked, that is misuse.
func (r reason) why(d *desk) (string, error) {
	if strings.TrimSpace(r.Reason) != "" {
		return r.Reason, nil
	}
	if d.ask == nil {
		return "", &UsageError{"--reason is needed: it goes into the audit log"}
	}
	fmt.Fprint(os.Stderr, "Why? ")
	line, err := bufio.NewReader(d.ask).ReadString('\n')
	if strings.TrimSpace(line) == "" {
		return "", &UsageError{"nothing was done without a reason"}
	}
	if err != nil {
		return "", fmt.Errorf("read the reason: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
