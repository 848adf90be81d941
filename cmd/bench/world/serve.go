package world

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
)

// limits of the server that a benchmark switches off.
var limits = []string{
	"MUTATIONS_PER_MINUTE", "CONTACT_REQUESTS_PER_MINUTE", "MESSAGES_PER_MINUTE", "REGISTRATIONS_PER_ADDRESS_PER_HOUR",
	"REGISTRATIONS_PER_HOUR", "SOCKETS_PER_AGENT", "SOCKETS", "REQUESTS_PER_ADDRESS_PER_SECOND",
	"CONNECTIONS", "CONNECTIONS_PER_ADDRESS",
}

// MinimalCommand is the hidden subcommand of this program that Minimal starts.
const MinimalCommand = "minimal"

// OperatorToken opens the operator listener of the servers started here.
const OperatorToken = "the-operator-token-of-the-benchmark"

// Serve starts the server, the program at path, on this database, without limits. The caller must stop it.
func (w *World) Serve(ctx context.Context, path string) (*Process, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, absolute, "serve")
	command.Env = append(os.Environ(), "STOA_DATABASE_URL="+w.URL, "STOA_DATA_DIR="+filepath.Join(w.folder, "server"),
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_OPERATOR_TOKEN="+OperatorToken,
		"STOA_LOG_FORMAT=json", "STOA_LOG_LEVEL=info")
	for _, name := range limits {
		command.Env = append(command.Env, "STOA_LIMIT_"+name+"=0")
	}
	return spawn(ctx, command, w.log, func(line []byte, p *Process) bool {
		var said struct {
			Message  string `json:"msg"`
			Address  string `json:"address"`
			Operator string `json:"operator_address"`
		}
		if json.Unmarshal(line, &said) != nil || said.Message != "serving" {
			return false
		}
		p.Address, p.Operator = said.Address, said.Operator
		return true
	})
}

// Minimal starts the minimal server, which this program is as well. The caller must stop it.
func (w *World) Minimal(ctx context.Context) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, MinimalCommand, w.URL)
	return spawn(ctx, command, w.log, func(line []byte, p *Process) bool {
		address, ok := bytes.CutPrefix(line, []byte(Announcement))
		p.Address, p.Operator = string(address), string(address)
		return ok
	})
}

// Announcement comes before the address in the line with which the minimal server says that it serves.
const Announcement = "serving on "
