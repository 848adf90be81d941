package inspection

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// Subcommand is the hidden command, first argument of the binary, under which Main must be called with the arguments that
// follow. Only Run gives it.
const Subcommand = "inspect-file"

// originalFD is where the child finds the file it is to judge, open for reading.
const originalFD = 3

// ready is the line the child prints once it is confined: what ends it afterwards is the file's doing.
const ready = "ready\n"

// Exit codes of the child beside 0: a verdict was written.
const (
	// exitUnable says that this machine, not the file, is at fault.
	exitUnable = 75
	// exitLate says that the parent did not end the child in time.
	exitLate = 76
)

// Main is the child half: it confines this process for good, judges the file at descriptor 3, writes what it makes into the
// working folder and its verdict to standard output, and returns the exit code. Its one argument is the purpose.
func Main(args []string) int {
	time.AfterFunc(orphanTime, func() { os.Exit(exitLate) })
	if err := answer(args, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUnable
	}
	return 0
}

// answer does Main's work; an error is the machine's fault.
func answer(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: " + Subcommand + " <purpose>")
	}
	if err := confine(); err != nil {
		return err
	}
	if _, err := io.WriteString(out, ready); err != nil {
		return err
	}
	file, err := io.ReadAll(io.LimitReader(os.NewFile(originalFD, "original"), maxFile+1))
	if err != nil {
		return err
	}
	v, err := judge(file, Purpose(args[0]))
	var refused refusal
	switch {
	case errors.As(err, &refused):
		v.Reason = refused.Error()
	case errors.Is(err, syscall.EFBIG):
		v.Reason = refusedLimits.Error()
	case err != nil:
		return err
	}
	return json.MarshalWrite(out, v)
}
