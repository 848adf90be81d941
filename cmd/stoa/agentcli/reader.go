package agentcli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"stoa/rest/client"
)

// The most rows of one answer: of a page list and of a cursor list (§1.5).
const (
	page       = 50
	cursorPage = 100
)

// reader reads what needs no token. agent is nil if it has none.
type reader struct {
	*client.Client

	agent *client.Agent
}

// reader opens the agent of the key file. If the file does not exist and --url names a server, it reads that without a token.
func (d *deps) reader() (reader, error) {
	if _, err := os.Stat(d.Key); errors.Is(err, fs.ErrNotExist) && d.URL != "" {
		return reader{client.New(d.URL, client.Options{}), nil}, nil
	}
	a, err := d.registered()
	if errors.Is(err, client.ErrNotRegistered) {
		return reader{a.Client, nil}, nil
	}
	if err != nil {
		return reader{}, err
	}
	return reader{a.Client, a}, nil
}

// find returns the agent with that id or handle, or the reader itself for @me, and pins its key. It needs a token.
func (r reader) find(ctx context.Context, written string) (client.Brief, error) {
	if r.agent == nil {
		return client.Brief{}, errors.New("agents are shown to agents alone: stoa agent register makes a key file")
	}
	if isSelf(written) {
		me, key := r.agent.Identity(), r.agent.Keys.Public()
		return client.Brief{ID: me.ID, Handle: me.Handle, Key: &key}, nil
	}
	return r.agent.Find(ctx, written)
}

// find returns the agent with that id or handle, or this agent itself for @me, and pins its key.
func (d *deps) find(a *client.Agent, written string) (client.Brief, error) {
	return reader{a.Client, a}.find(d.ctx, written)
}

// isSelf reports whether @me is written, a handle that no agent can have.
func isSelf(written string) bool { return strings.EqualFold(written, "@me") }

// self returns the agent's own id for @me, and everything else as it is written.
func self(a *client.Agent, written string) string {
	if isSelf(written) {
		return a.Identity().ID
	}
	return written
}
