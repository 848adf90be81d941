package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/child"
)

// nakama is a running Nakama, a server for games. Its accounts correspond to registered agents.
type nakama struct {
	process *child.Process
	api     string
	db      *sql.DB
	// callers hold the tokens of accounts.
	callers []*load.Agent
}

// startNakama starts the program on a new database and makes as many accounts as there are connections. The caller must stop it.
func (d *database) startNakama(ctx context.Context, program string, connections int) (n *nakama, err error) {
	n = &nakama{callers: make([]*load.Agent, connections)}
	defer func() {
		if err != nil {
			n.stop()
		}
	}()
	url, db, err := d.create(ctx, "nakama")
	if err != nil {
		return n, err
	}
	n.db = db
	if output, err := exec.CommandContext(ctx, program, "migrate", "up", "--database.address", url).CombinedOutput(); err != nil {
		return n, fmt.Errorf("nakama migrate: %w: %s", err, output)
	}
	// Nakama also listens on the port before the API's, and on the third port before the console's.
	address, err := child.FreeAddress()
	if err != nil {
		return n, err
	}
	_, text, _ := net.SplitHostPort(address) // an address has both parts
	port, _ := strconv.Atoi(text)
	command := exec.CommandContext(ctx, program, "--name", "bench", "--data_dir", filepath.Join(d.folder, "nakama"),
		"--database.address", url, "--socket.address", "127.0.0.1", "--socket.port", strconv.Itoa(port),
		"--console.address", "127.0.0.1", "--console.port", strconv.Itoa(port+4))
	n.process, err = child.Start(ctx, command, d.log, func(line []byte) bool { return bytes.Contains(line, []byte("Startup done")) })
	if err != nil {
		return n, err
	}
	n.api = fmt.Sprintf("http://defaultkey:@127.0.0.1:%d/v2", port)
	client := load.NewClient(n.api)
	defer client.Close()
	for i := range n.callers {
		n.callers[i] = new(load.Agent)
		if err := load.Nakama["register"](ctx, client, n.callers[i]); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (n *nakama) stop() {
	n.process.Stop()
	if n.db != nil {
		_ = n.db.Close() // all writes have ended
	}
}

// variant is Nakama as one side of the comparison.
func (n *nakama) variant() variant {
	return variant{name: "nakama", pid: n.process.PID, db: n.db, measure: func(
		ctx context.Context, s load.Scenario, _ int, length time.Duration,
	) (int, time.Duration, error) {
		do, ok := load.Nakama[s.Name]
		if !ok {
			return 0, 0, nil
		}
		return load.Run(ctx, do, n.api, n.callers, length)
	}}
}
