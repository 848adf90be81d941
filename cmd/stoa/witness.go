package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"stoa/graph/platform/httpserver"
	"stoa/rest/client/keylog/witness"
)

// witnessCommand is a witness of key logs (§12.4). It needs no database and knows no server.
type witnessCommand struct {
	Logs   string `env:"-" required:"" placeholder:"FILE" help:"The logs for which it signs: a vkey a line."`
	State  string `env:"-" required:"" placeholder:"FOLDER" help:"Where the last head of each log is kept. Never restore an older copy."`
	Key    string `env:"-" required:"" placeholder:"FILE" help:"The private key; made if the file does not exist."`
	Name   string `env:"-" help:"Name of a key that is made; default: the name of this machine."`
	Listen string `env:"-" required:"" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:8070."`
}

const (
	// witnessConnections and witnessConnectionsPerAddress are how many connections to a witness may be open at once.
	witnessConnections, witnessConnectionsPerAddress = 512, 64
	// witnessEnd bounds the end of a witness.
	witnessEnd = 5 * time.Second
)

func (c witnessCommand) Validate() error { return checkAddress("listen", c.Listen) }

// Run prints the vkey and signs until SIGTERM or SIGINT.
func (c witnessCommand) Run(out io.Writer) (err error) {
	log := logSettings{LogFormat: "auto"}.logger(os.Stderr)
	known, err := os.ReadFile(c.Logs)
	if err != nil {
		return err
	}
	logs, err := witness.ParseLogs(string(known))
	if err != nil {
		return fmt.Errorf("%s: %w", c.Logs, err)
	}
	if c.Name == "" {
		if c.Name, err = os.Hostname(); err != nil {
			return err
		}
	}
	unlock, err := lockWitness(c.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	signer, vkey, err := witness.OpenKey(c.Key, c.Name)
	if err != nil {
		return err
	}
	handler, err := witness.New(witness.Config{Logs: logs, Signer: signer, Folder: c.State, Logger: log})
	if err != nil {
		return err
	}
	ctx := contextUntilSignal(log)
	server, err := httpserver.Listen(ctx, c.Listen, handler, httpserver.Config{
		Logger: log, Connections: witnessConnections, ConnectionsPerAddress: witnessConnectionsPerAddress,
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, vkey); err != nil {
		return err
	}
	log.Info("witnessing", "address", server.Address(), "logs", len(logs))
	select {
	case err = <-server.Failed():
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), witnessEnd)
	defer cancel()
	return errors.Join(err, server.Shutdown(end))
}

// lockWitness makes the folder and keeps other witnesses out of it until the returned function is called.
func lockWitness(folder string) (unlock func() error, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another witness uses it")
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", folder, err), file.Close())
	}
	return file.Close, nil
}

func (s witnessSettings) Validate() error {
	if _, err := witness.ParseTargets(s.Witnesses); err != nil {
		return fmt.Errorf("--witnesses: %w", err)
	}
	return nil
}

// targets returns the configured witnesses.
func (s witnessSettings) targets() []witness.Target {
	targets, _ := witness.ParseTargets(s.Witnesses) // Validate has read them
	return targets
}
