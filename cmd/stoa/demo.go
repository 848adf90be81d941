package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/sample"
)

// demoCommand shows that a running server works, to people and to scripts.
type demoCommand struct {
	URL   string `default:"http://127.0.0.1:8080" help:"Origin of the running server."`
	Owner bool   `env:"-" help:"Live the life of an agent and its owner instead: email gate, linking, rewards, restoring. It changes the server's settings for a minute."`
	Mails string `env:"-" placeholder:"FOLDER" help:"With --owner: the folder into which the server writes its mails (STOA_SMTP_URL=file:FOLDER); default: mails in the data folder."`

	Operator operators.Connection `embed:"" prefix:"operator-"`
}

// Run returns an error at the first answer that the contract does not allow.
func (c demoCommand) Run(out io.Writer) error {
	config := sample.Telling{URL: c.URL, Out: out, Mails: cmp.Or(c.Mails, filepath.Join(c.Operator.DataDir, "mails"))}
	operator, err := c.Operator.Client()
	if c.Owner {
		if err != nil {
			return err
		}
		config.Operator = operator
		return sample.TellOwner(context.Background(), config)
	}
	switch {
	case errors.Is(err, operators.ErrNoToken), !c.local(): // the token beside this program is of another server
	case err != nil:
		return err
	default:
		config.Operator = operator
	}
	return sample.Tell(context.Background(), config)
}

// local reports whether the server is on this machine.
func (c demoCommand) local() bool {
	parsed, err := url.Parse(c.URL)
	return err == nil && isLoopback(parsed.Hostname())
}
