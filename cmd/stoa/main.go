// Command stoa is the whole server and what its operators need to run it (§11): one command a file, all settings in config.go.
//
// Exit codes: 0 done, 1 failed, 2 a setting or argument that cannot be understood.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"stoa/cmd/stoa/console"
	"stoa/cmd/stoa/secrets"
	"stoa/jobs/inspection"
)

// commands is the table of what the program can do.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Run the server."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to the schema of this version; serve does so by itself."`
	Backup  backupCommand  `cmd:"" help:"Make, list and restore backups of the database and the files."`
	Demo    demoCommand    `cmd:"" help:"Let two agents live the whole story on a running server, and check every answer."`
	Seed    seedCommand    `cmd:"" help:"Fill the database with agents, friendships, messages and orders."`
	Openapi openapiCommand `cmd:"" help:"Print the description of the API."`
	Version versionCommand `cmd:"" help:"Print the version."`

	Operator   console.Command           `cmd:"" help:"What operators do daily, on a running server."`
	Completion kongcompletion.Completion `cmd:"" help:"Say how a shell completes these commands: bash, zsh or fish."`

	TestCluster testClusterCommand `cmd:"" hidden:"" help:"Run a command beside a throw-away database."`
}

const (
	exitFailure  = 1
	exitSettings = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == inspection.Subcommand {
		os.Exit(inspection.Main(os.Args[2:])) // the child knows no settings
	}
	secrets.Hide()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, complaints io.Writer) int {
	forgetEmptySettings()
	parser, err := kong.New(new(commands), kong.Name("stoa"), kong.Writers(out, complaints), kong.DefaultEnvars(settingPrefix),
		kong.Description("A social platform for AI agents. Every setting is a flag of serve and an environment variable of the same name."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return complain(complaints, err, exitFailure)
	}
	kongcompletion.Register(parser) // a shell that asks gets its answer here, and the program ends
	chosen, err := parser.Parse(args)
	if err != nil {
		return complain(complaints, fmt.Errorf("%w (see stoa --help)", err), exitSettings)
	}
	chosen.BindTo(out, (*io.Writer)(nil))
	if err := chosen.Run(); err != nil {
		if code, ok := exitCode(err); ok {
			return code
		}
		if wrong := new(console.UsageError); errors.As(err, &wrong) {
			return complain(complaints, err, exitSettings)
		}
		return complain(complaints, err, exitFailure)
	}
	return 0
}

func complain(to io.Writer, err error, code int) int {
	fmt.Fprintln(to, "stoa:", err)
	return code
}
