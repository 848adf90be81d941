// Package client sends GraphQL requests to the operator listener of a running server. It imports no package of the server.
//
// Errors tell the user how to go on: terminal.UsageError for invalid settings, RefusedError for requests that the server refused.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"stoa/cmd/stoa/terminal"
)

// tokenFile holds the token that the server made, in its data folder.
const tokenFile = "operator.token"

// ErrNoToken means that no token is set and the data folder has none.
const ErrNoToken = terminal.UsageError("no token")

// answerTimeout bounds one request; maintenance takes the longest.
const answerTimeout = 2 * time.Minute

// Connection describes the server and the caller. It reads the server's variables, so on the server's machine no flag is needed.
type Connection struct {
	Address string `default:"127.0.0.1:8081" env:"STOA_OPERATOR_LISTEN" help:"Operator listener: an address or a URL."`
	Token   string `env:"STOA_OPERATOR_TOKEN" help:"Your token, or the installation's; empty: the one in the data folder."`
	DataDir string `default:"./data" env:"STOA_DATA_DIR" help:"Data folder of the server, for the token."`
	As      string `env:"-" placeholder:"NAME" help:"Your name, for the audit log; your own token has one."`
}

// Client sends requests to one server as one operator.
type Client struct {
	// Origin of the operator listener.
	Origin string

	address, token, tokenSource, name string
}

// Client returns a client that has not connected yet. It returns a terminal.UsageError without a token.
func (c Connection) Client() (*Client, error) {
	origin, err := c.origin()
	if err != nil {
		return nil, err
	}
	token, source, err := c.credential()
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(c.As, unicode.IsControl) {
		return nil, terminal.UsageError("--as: a name is one line")
	}
	return &Client{origin, c.Address, token, source, c.As}, nil
}

// origin returns the origin of the listener. For a listener on all interfaces it is the loopback address.
func (c Connection) origin() (string, error) {
	wrong := terminal.UsageError(fmt.Sprintf("--address: %q is neither an address such as 127.0.0.1:8081 nor a URL", c.Address))
	if strings.Contains(c.Address, "://") {
		parsed, err := url.Parse(c.Address)
		if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
			return "", wrong
		}
		return strings.TrimSuffix(c.Address, "/"), nil
	}
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return "", wrong
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

func (c Connection) credential() (token, source string, err error) {
	if c.Token != "" {
		return c.Token, "--token or STOA_OPERATOR_TOKEN", nil
	}
	path := filepath.Join(c.DataDir, tokenFile)
	kept, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", fmt.Errorf("%w: set --token or STOA_OPERATOR_TOKEN, or name the server's data folder with --data-dir"+
			" (there is no %s)", ErrNoToken, path)
	case err != nil:
		return "", "", fmt.Errorf("the token: %w", err)
	}
	return strings.TrimSpace(string(kept)), path, nil
}

// Do sends a request with the operator's token and name.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+c.token)
	if c.name != "" {
		request.Header.Set("X-Stoa-Operator", c.name)
	}
	answer, err := (&http.Client{Timeout: answerTimeout}).Do(request)
	network := net.Error(nil)
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &network) && network.Timeout():
		return nil, fmt.Errorf("%s has not answered in time; the request may have been carried out all the same: see stoa operator audit", c.address)
	default:
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
			err = inner
		}
		return nil, fmt.Errorf("no server answers at %s; is it running there? (--address): %w", c.address, err)
	}
}

// RefusedError is an error in the server's answer.
type RefusedError string

func (e RefusedError) Error() string { return string(e) }

// Refused returns the error for an answer that is not GraphQL.
func (c *Client) Refused(status string) error {
	return RefusedError(fmt.Sprintf("the server refused (%s); the token came from %s", status, c.tokenSource))
}

type refusal struct {
	Message    string `json:"message"`
	Extensions *struct {
		Code       string            `json:"code"`
		Fields     map[string]string `json:"fields"`
		RetryAfter float64           `json:"retryAfter"` //nolint:tagliatelle // as GraphQL has it
	} `json:"extensions"`
}

// Ask runs a GraphQL operation and decodes its data into a pointer. Numbers decoded into an interface are json.Number.
func (c *Client) Ask(ctx context.Context, document string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Origin+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []refusal       `json:"errors"`
	}
	err = json.NewDecoder(response.Body).Decode(&answer)
	switch {
	case err == nil && len(answer.Errors) > 0 && (answer.Errors[0].Extensions != nil || response.StatusCode == http.StatusOK):
		return c.explain(answer.Errors[0])
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answered %d: it is still starting, or no operator listener of Stoa (--address)", c.address, response.StatusCode)
	case err == nil:
		data := json.NewDecoder(bytes.NewReader(answer.Data))
		data.UseNumber()
		err = data.Decode(into)
	}
	if err != nil {
		return fmt.Errorf("%s gave an answer that cannot be understood: %w", c.address, err)
	}
	return nil
}

// explain returns the error of an answer, with the fields that caused it.
func (c *Client) explain(first refusal) error {
	if first.Extensions == nil {
		return RefusedError(strings.TrimSuffix(first.Message, "."))
	}
	extensions := first.Extensions
	var said strings.Builder
	fmt.Fprintf(&said, "%s (%s)", strings.TrimSuffix(first.Message, "."), extensions.Code)
	for _, field := range slices.Sorted(maps.Keys(extensions.Fields)) {
		fmt.Fprintf(&said, "\n  %s %s", field, extensions.Fields[field])
	}
	if extensions.Code == "unauthorized" {
		fmt.Fprintf(&said, "\n  the token came from %s", c.tokenSource)
	}
	if extensions.RetryAfter > 0 && !strings.HasSuffix(extensions.Code, "_setup_pending") { // no time sets it up
		fmt.Fprintf(&said, "\n  try again in %.0f s", extensions.RetryAfter)
	}
	return RefusedError(said.String())
}
