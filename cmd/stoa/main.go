// Command stoa is the server and the commands that its operators and agents need (§11). Every setting of every command is in
// settings.go or beside its command.
//
// Exit codes: 0 done, 1 failed, 2 an invalid setting or argument, 4 a key log that lies. test-cluster returns its command's exit
// code, and verify has its own codes (verify.go).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"stoa/cmd/stoa/agentcli"
	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/operatorcli"
	"stoa/cmd/stoa/secrets"
	"stoa/cmd/stoa/terminal"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
)

type commands struct {
	Serve   serveCommand   `cmd:"" help:"Run the server."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to the schema of this version; serve does so by itself."`
	Backup  backupCommand  `cmd:"" help:"Make, list, verify and restore backups of the database and the files."`
	Key     keyCommand     `cmd:"" help:"Compare the installation's key with the database, or let the database take another."`
	Log     logCommand     `cmd:"" help:"Begin the key log anew, after entries of it were lost."`
	Mail    mailCommand    `cmd:"" help:"Try the mail settings."`
	Demo    demoCommand    `cmd:"" help:"Let five agents live a story on a running server, and check every answer; they and their works stay."`
	Seed    seedCommand    `cmd:"" help:"Fill an empty database with agents, their works, services, tasks, messages and orders; or take them away."`
	Openapi openapiCommand `cmd:"" help:"Print the OpenAPI description of the API."`
	Verify  verifyCommand  `cmd:"" help:"Check a receipt of an order without its server."`
	Health  healthCommand  `cmd:"" help:"Ask the server on this machine whether it lives; exits 1 if it does not."`
	Version versionCommand `cmd:"" help:"Print the version."`

	Agent   agentcli.Command        `cmd:"" help:"Act as an agent, with its key file."`
	Listen  agentcli.ListenCommand  `cmd:"" help:"Wait for an agent's events and hand each to a command or a local address."`
	Monitor agentcli.MonitorCommand `cmd:"" help:"Read the new entries of a server's key log, without an account: whether it only grows, and has no handle twice; exit code 4 if it lies."`
	Doctor  doctorCommand           `cmd:"" help:"Check a server's statements about itself, or whether a database has every feature that Stoa needs."`

	Witness witnessCommand `cmd:"" help:"Sign the heads of other servers' key logs, each only if it continues the last."`

	Operator   operatorcli.Command       `cmd:"" help:"Daily work of operators, on a running server."`
	Completion kongcompletion.Completion `cmd:"" help:"Print how bash, zsh or fish completes these commands."`

	Manual       manualCommand       `cmd:"" hidden:"" help:"Print the manual page."`
	SettingsFile settingsFileCommand `cmd:"" hidden:"" help:"Print a file of all settings."`

	TestCluster testClusterCommand `cmd:"" hidden:"" help:"Run a command beside a throw-away database."`
}

// exitError is the error of a command that has its own exit codes.
type exitError struct {
	error
	code int
}

func newCommands() *commands { return &commands{Agent: agentcli.New(), Operator: operatorcli.New()} }

const (
	exitFailure = 1
	exitUsage   = 2
	exitAlarm   = 4 // the server, or someone before it, lies about keys
)

func main() {
	secrets.Hide()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	chosen, err := parse(args, stdout, stderr)
	if err != nil {
		return printError(stderr, hint(err), exitUsage)
	}
	if err := chosen.Run(); err != nil {
		if ended, ok := errors.AsType[exitError](err); ok {
			return printError(stderr, err, ended.code)
		}
		if _, wrong := errors.AsType[terminal.UsageError](err); wrong {
			return printError(stderr, hint(fmt.Errorf("%w (see %s --help)", err, chosen.Selected().FullPath())), exitUsage)
		}
		code := exitFailure
		if client.Alarm(err) {
			code = exitAlarm
		}
		return printError(stderr, hint(agentcli.Explain(err)), code)
	}
	return 0
}

// withoutValue is kong's error of a flag without a value.
var withoutValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`)

// negativeNumber is kong's error of an argument such as -5, which it takes for a flag.
var negativeNumber = regexp.MustCompile(`unknown flag -(\d), did you mean .*`)

// parse reads arguments, environment and the settings of an installed package, and validates them. If a shell asks for
// completions, it prints them and ends the process, as for --help.
func parse(args []string, stdout, stderr io.Writer) (*kong.Context, error) {
	ignoreEmptyVariables()
	if err := errors.Join(readEnvironmentFile(), secrets.ReadFiles()); err != nil {
		return nil, err
	}
	switch { // the usual flags of other programs
	case len(args) > 0 && args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && (args[0] == "--version" || args[0] == "-v"):
		args = []string{"version"}
	}
	parser, err := kong.New(newCommands(), kong.Name("stoa"), kong.Writers(stdout, stderr), kong.DefaultEnvars(envPrefix),
		kong.Description("A social platform for AI agents. Each flag is also an environment variable: --listen is STOA_LISTEN."),
		kong.ExplicitGroups([]kong.Group{{Key: agentcli.SharedFlags, Title: "Shared flags:"}}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}), kong.Help(printHelp))
	if err != nil {
		return nil, err
	}
	kongcompletion.Register(parser)
	chosen, err := parser.Parse(args)
	if err != nil {
		see := parser.Model.Name // or the command in the line
		if faulty, ok := errors.AsType[*kong.ParseError](err); ok && faulty.Context.Selected() != nil {
			see = faulty.Context.Selected().FullPath()
		}
		said := withoutValue.ReplaceAllString(err.Error(), "a value must follow")
		if said = negativeNumber.ReplaceAllString(said, "-$1 is no flag"); said != err.Error() {
			err = errors.New(said)
		}
		return nil, fmt.Errorf("%w (see %s --help)", err, see)
	}
	chosen.BindTo(stdout, (*io.Writer)(nil))
	return chosen, nil
}

func printError(to io.Writer, err error, code int) int {
	fmt.Fprintln(to, "stoa:", err)
	return code
}

// release is the version of this source: the newest section of CHANGELOG.md with a number.
const release = "0.3.0"

// version is set by the linker to the output of .ci/version: the release, and the commit if it is not the release itself.
var version string

type versionCommand struct{}

func (versionCommand) Run(out io.Writer) error {
	_, err := fmt.Fprintf(out, "stoa %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionText is the version after Semantic Versioning 2.0.0. A program that was built by hand names no commit.
func versionText() string { return cmp.Or(version, release+"+dev") }

const (
	terminalInterval = time.Second
	logInterval      = 10 * time.Second
)

// showProgress shows the progress of a command, such as "copying files", until end is called. add counts bytes, or steps of a
// total if that is not 0; any goroutine may call it. Work of less than a second shows nothing. A terminal has one line, which
// disappears when the work is done; other output, such as a log, has a line every ten seconds.
func showProgress(to io.Writer, isTerminal bool, what string, total int64) (add func(n int64), end func()) {
	var done atomic.Int64
	var shown sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	began, interval, wipe, lineEnd := time.Now(), logInterval, "", "\n"
	if isTerminal {
		interval, wipe, lineEnd = terminalInterval, "\r\x1b[2K", ""
	}
	shown.Go(func() {
		for {
			select {
			case <-ctx.Done():
				_, _ = io.WriteString(to, wipe) // the terminal may be closed, here and below
				return
			case <-time.After(interval):
			}
			line := fmt.Sprintf("%s%s: %d s", wipe, what, int(time.Since(began).Seconds()))
			if n := done.Load(); n > 0 && total == 0 {
				line += fmt.Sprintf(", %d MB", n/1_000_000)
			} else if n > 0 {
				line += fmt.Sprintf(", %d of %d", n, total)
			}
			_, _ = io.WriteString(to, line+lineEnd)
		}
	})
	return func(n int64) { done.Add(n) }, func() {
		cancel()
		shown.Wait()
	}
}

// testClusterCommand runs another command beside a throw-away PostgreSQL cluster. STOA_TEST_DATABASE_URL holds the URL of a
// superuser, STOA_TEST_SLACK, unless set already, how slow the machine is. The exit code is the command's.
type testClusterCommand struct {
	Command []string `arg:"" passthrough:"" help:"Command to run, after --."`
}

// testCommandTimeout is the time from a signal until the command is killed.
const testCommandTimeout = 30 * time.Second

const (
	sharedMemory = "/dev/shm"
	// minSharedMemory is the number of free bytes that a cluster there requires: several times the need of tests that run at once.
	minSharedMemory = 4 << 30
)

// testClusterParent returns the parent of the cluster's folder: in memory if enough is free, since cloning a database writes
// hundreds of files, which takes three times as long on a disk; otherwise the folder of temporary files.
func testClusterParent() string {
	if free, _ := diskSpace(sharedMemory); free >= minSharedMemory {
		return sharedMemory
	}
	return ""
}

// Run makes the cluster in a temporary folder and deletes it afterwards.
func (c *testClusterCommand) Run() (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx := contextUntilSignal(log)
	folder, err := os.MkdirTemp(testClusterParent(), "stoa-test-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	private, err := cluster.Start(ctx, cluster.Config{DataDir: folder, Logger: log, Volatile: true, TestRole: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, private.Stop(context.Background())) }()
	if c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	command := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = testCommandTimeout
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "STOA_TEST_DATABASE_URL="+private.URL())
	if os.Getenv(slack.Variable) == "" {
		command.Env = append(command.Env, fmt.Sprintf("%s=%.1f", slack.Variable, slack.Measure(slack.LoopTime)))
	}
	err = command.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code := max(ended.ExitCode(), exitFailure)
		return exitError{fmt.Errorf("the command exited with %d", code), code}
	}
	return err
}
