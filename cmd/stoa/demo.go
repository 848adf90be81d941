package main

import (
	"context"
	"io"

	"stoa/cmd/stoa/demo"
)

// demoCommand is for whoever wants to see a running server work, and for scripts that want to know whether it does.
type demoCommand struct {
	URL string `default:"http://127.0.0.1:8080" help:"Origin of the running server."`
}

// Run returns an error as soon as the server does anything else than the specification promises.
func (c demoCommand) Run(out io.Writer) error {
	return demo.Run(context.Background(), demo.Config{URL: c.URL, Out: out})
}
