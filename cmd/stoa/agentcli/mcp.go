package agentcli

import (
	"context"
	"errors"
	"os"

	"stoa/rest"
	"stoa/rest/mcp"
)

// MCPCommand is `stoa mcp`: the tools of /mcp and those that need the private key, for a program of a model on this machine.
type MCPCommand struct {
	Connection
	Text  bool   `help:"Give results as text, for programs that show models no structured content."`
	Files string `placeholder:"DIR" help:"Let the model upload the files of this folder, by their paths in it."`
}

// Run speaks the protocol over standard input and output until the input ends.
func (c MCPCommand) Run(version Version) error {
	ctx, stop := untilSignal()
	defer stop()
	own, err := c.ownTools()
	if err != nil {
		return err
	}
	description, err := rest.OpenAPI(own.origin)
	if err != nil {
		return err
	}
	options := mcp.Options{
		Description: description, Name: rest.ToolsName(own.origin), Version: string(version), Origin: own.origin, API: remoteAPI{own},
		AsText: c.Text, ToText: "it starts `stoa mcp` with --text.", Unregistered: func() bool { return own.registered() != nil },
	}
	if c.Files != "" {
		if options.Files, err = os.OpenRoot(c.Files); err != nil {
			return err
		}
		defer options.Files.Close()
	}
	server, err := mcp.NewServer(options, own.tools()...)
	if err != nil {
		return err
	}
	if err := server.Run(ctx, mcp.Lines(os.Stdin, os.Stdout)); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Version is the program's version.
type Version string
