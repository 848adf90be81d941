// Command bench measures a running server and writes docs/benchmarks.md.
//
// It creates and seeds its own PostgreSQL cluster, starts the server (bin/stoa) and a minimal server (package baseline) as child
// processes, compares them in random order, and removes everything again, also when it is interrupted. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/world"
)

type commands struct {
	Run      runCommand      `cmd:"" default:"withargs" help:"Measure, print the page, and write it into --out."`
	Database databaseCommand `cmd:"" help:"Seed a database, print its URL and an agent's token, and keep it until interrupted."`
	Where    whereCommand    `cmd:"" help:"Profile operations, and write where the time goes into --out."`
	Messages messagesCommand `cmd:"" help:"Compare a server with very many messages with one that has few, and with one whose messages are in a partition a week."`
	Minimal  minimalCommand  `cmd:"" hidden:"" help:"Run the minimal server."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	parsed := kong.Parse(new(commands), kong.Name("bench"),
		kong.Description("Compare the server with a minimal server and with direct calls of its statements, on one seeded database."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	err := parsed.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// databaseCommand seeds a database to look into.
type databaseCommand struct {
	Agents int    `default:"1000" help:"Number of agents."`
	Posts  int    `default:"0" help:"Number of posts; at least two per agent."`
	Dir    string `help:"Folder for the database; empty: the system's temporary folder."`
}

// Run prints the database's URL and an agent's token, and waits for a signal.
func (c *databaseCommand) Run(ctx context.Context) (err error) {
	w, err := world.New(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Grow(ctx, c.Agents, c.Posts); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, w.URL)
	fmt.Fprintln(os.Stdout, w.Agents[0].Token)
	<-ctx.Done()
	return nil
}

// minimalCommand runs the minimal server.
type minimalCommand struct {
	URL    string `arg:"" help:"URL of the database."`
	Schema string `arg:"" help:"Schema of its functions."`
}

// Run serves until ctx is done. It announces its address on standard output.
func (c *minimalCommand) Run(ctx context.Context) (err error) {
	db, err := baseline.Open(ctx, c.URL, c.Schema)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := baseline.NewServer(db)
	fmt.Fprintln(os.Stdout, world.Announcement+listener.Addr().String())
	go func() {
		<-ctx.Done()
		_ = server.Close() // nobody waits for the rest
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
