package operatorcli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/Khan/genqlient/graphql"
)

// tokenFile holds the token that the server made, in its data folder.
const tokenFile = "operator.token"

// ErrNoToken says that no token is set and the data folder has none.
var ErrNoToken error = &UsageError{"no token"}

// answerTimeout bounds one request; maintenance takes the longest.
const answerTimeout = 2 * time.Minute

// Connection says which server to ask, and who asks. It reads the variables of the server, so beside a server no flag is needed.
type Connection struct {
	Address string `default:"127.0.0.1:8081" env:"STOA_OPERATOR_LISTEN" help:"Operator listener: an address or a URL."`
	Token   string `env:"STOA_OPERATOR_TOKEN" help:"The operators' bearer token; empty: the one in the data folder."`
	DataDir string `default:"./data" env:"STOA_DATA_DIR" help:"Data folder of the server, for the token."`
	As      string `env:"-" placeholder:"NAME" help:"Your name, for the audit log."`
}

// origin returns the origin of the listener. A listener on all interfaces is asked on the loopback.
func (c Connection) origin() (string, error) {
	if strings.Contains(c.Address, "://") {
		parsed, err := url.Parse(c.Address)
		if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
			return "", &UsageError{fmt.Sprintf("--address: %q is neither an address such as 127.0.0.1:8081 nor a URL", c.Address)}
		}
		return strings.TrimSuffix(c.Address, "/"), nil
	}
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return "", &UsageError{fmt.Sprintf("--address: %q is neither an address such as 127.0.0.1:8081 nor a URL", c.Address)}
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// credential returns the token and its source.
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

// Client returns a client that has not connected yet. It returns *UsageError without a token.
func (c Connection) Client() (graphql.Client, error) {
	origin, err := c.origin()
	if err != nil {
		return nil, err
	}
	token, source, err := c.credential()
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(c.As, unicode.IsControl) {
		return nil, &UsageError{"--as: a name is one line"}
	}
	doer := &authenticatedClient{client: &http.Client{Timeout: answerTimeout}, token: token, name: c.As}
	return &explainingClient{graphql.NewClient(origin+"/graphql", doer), cmp.Or(c.Address, origin), source}, nil
}

// authenticatedClient adds the operator's token and name to every request.
type authenticatedClient struct {
	client      *http.Client
	token, name string
}

// Do implements graphql.Doer.
func (c *authenticatedClient) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+c.token)
	if c.name != "" {
		request.Header.Set("X-Stoa-Operator", c.name)
	}
	return c.client.Do(request) //nolint:gosec // the operator says which server to ask
}
