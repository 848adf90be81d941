package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// healthCommand asks a server on this machine how it is, for containers and scripts.
type healthCommand struct {
	listenSettings

	Ready   bool          `env:"-" help:"Ask whether it is ready to serve (/readyz) instead of whether it lives (/healthz)."`
	Timeout time.Duration `env:"-" default:"5s" help:"How long an answer may take."`
}

// maxHealthAnswer bounds what is printed of an answer, in bytes.
const maxHealthAnswer = 4 << 10

// Validate implements kong's validation.
func (c healthCommand) Validate() error { return checkAddress("listen", c.Listen) }

// Run prints the answer. It returns an error unless that is 200.
func (c healthCommand) Run(out io.Writer) error {
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	status, body, err := askHealth(ctx, c.Listen, path)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", path, status, body)
	}
	_, err = fmt.Fprintln(out, body)
	return err
}

// askHealth asks a listener of this machine. An address without a host, or with one that stands for all, means the loopback. No
// proxy of the environment is used.
func askHealth(ctx context.Context, address, path string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxHealthAnswer))
	return response.StatusCode, strings.TrimSpace(string(text)), err
}
