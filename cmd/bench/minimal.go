package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/world"
)

// minimalCommand serves the hot paths by hand until it is told to stop.
type minimalCommand struct {
	URL string `arg:"" help:"The database."`
}

// Run announces the address on standard output.
func (c *minimalCommand) Run(ctx context.Context) (err error) {
	db, err := baseline.Open(ctx, c.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	open, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := baseline.NewServer(db)
	fmt.Fprintln(os.Stdout, world.Announcement+open.Addr().String())
	go func() {
		<-ctx.Done()
		_ = server.Close() // requests in hand are of no use to anyone
	}()
	if err := server.Serve(open); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
