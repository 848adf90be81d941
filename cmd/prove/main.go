// Command prove tests a small production of Stoa from outside: whether it keeps its promises during faults, and whether hours of
// load leave anything behind (README.md).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"stoa/cmd/prove/faults"
	"stoa/cmd/prove/selftest"
)

type commands struct {
	Faults faultsCommand `cmd:"" default:"withargs" help:"Torture servers with faults and judge what they did."`
	Judge  judgeCommand  `cmd:"" help:"Judge the history that an earlier run with faults has kept."`

	SelfTest selfTestCommand `cmd:"" help:"Plant bugs in the server, one at a time, and find out which of them a short proof finds."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	parsed := kong.Parse(new(commands), append(options(), kong.BindTo(ctx, (*context.Context)(nil)))...)
	err := parsed.Run()
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "prove: %v\n", err)
		os.Exit(1)
	}
}

func options() []kong.Option {
	return []kong.Option{
		kong.Name("prove"), kong.Description("Find out from outside what servers keep and bear."),
		kong.Vars{"faults": strings.Join(faults.Names(), ", "), "bugs": strings.Join(selftest.Names(), ", ")},
	}
}

type faultsCommand struct {
	Seed      uint64  `help:"Plan of the run; 0 draws one, which is printed."`
	Minutes   float64 `help:"Length of the load." default:"3"`
	Processes int     `help:"Number of servers." default:"3"`
	Agents    int     `help:"Number of agents, 8 to 28." default:"24"`
	Faults    string  `help:"Faults by name, separated by commas; all, or none: ${faults}." default:"all"`
	Failover  bool    `help:"Use a primary and a synchronous standby, led by Patroni."`
	Older     string  `help:"Another version of the server's program: all servers begin with it, and faults change versions." type:"existingfile" xor:"program"`
	Clocks    bool    `help:"The server's program was built by .ci/clocks: faults set its clock." xor:"program"`
	Server    string  `help:"The server's program." default:"bin/stoa" type:"existingfile"`
	Dir       string  `help:"Folder for the run's own folder, which is removed unless the run fails." type:"existingdir"`
	Out       string  `help:"Folder for result.json and result.md; nothing is written without it." type:"existingdir"`
	History   string  `help:"File to write the whole history into, as JSON." type:"path"`
}

// Run makes a run and judges it.
func (c *faultsCommand) Run(ctx context.Context) error {
	r, err := c.newRun()
	if err != nil {
		return err
	}
	return r.prove(ctx)
}

func (c *faultsCommand) load() time.Duration { return time.Duration(c.Minutes * float64(time.Minute)) }

type judgeCommand struct {
	File string `arg:"" help:"File of the history, from --history." type:"existingfile"`
}
