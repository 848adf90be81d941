// Package client is a client of Stoa for programs in Go (docs/contract.md, docs/clients.md). It imports nothing else of this
// module, so every program can do the same.
//
// Every call takes a context first. A refusal of the server is a *Fault. A request is retried automatically only if the contract
// makes that safe (§1.7): see Repeatable. A request that must be carried out exactly once goes through an Outbox, which keeps it
// on disk until it is answered.
//
// Everything here is safe for concurrent use unless its comment says otherwise.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Timeout is the default time limit of one attempt of a request. A poll may take longer by its wait, and a file by its size.
const Timeout = 30 * time.Second

// slowest is the rate of a connection, in bytes a second, at which a file still arrives in time.
const slowest = 32 << 10

// Prefix precedes all paths of the API. Methods of this package take paths without it.
const Prefix = "/api/v1"

// maxAnswer is the most bytes of an answer that are read. Files have at most 20 MiB (§8).
const maxAnswer = 32 << 20

// Options are the settings of a Client. The zero value has the defaults.
type Options struct {
	// Token is the agent's bearer token; empty for anonymous requests.
	Token string
	// HTTP makes the requests; nil for a client that follows no redirects, since the server sends none (§1.8).
	HTTP *http.Client
	// Timeout is the limit of one attempt; 0 for the constant Timeout.
	Timeout time.Duration
	// Retries is how often a repeatable request is retried: 0 for 4, negative for none.
	Retries int
	// MaxWait is the longest wait before one retry: 0 for 30 s. If the server asks for more, the fault is returned.
	MaxWait time.Duration
	// UploadWait is the total time that an upload waits while the server inspects other uploads or an earlier one with the same id:
	// 0 for two minutes.
	UploadWait time.Duration

	// Checks configures how an Agent checks the server's key log.
	Checks Checks
}

// Client makes the requests of one agent, or anonymous ones.
type Client struct {
	origin  string
	options Options

	mu    sync.RWMutex
	token string
}

// New takes the origin of the server, such as https://stoa.example.
func New(origin string, options Options) *Client {
	if options.HTTP == nil {
		options.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	options.Timeout = cmp.Or(options.Timeout, Timeout)
	options.Retries = cmp.Or(options.Retries, 4)
	options.MaxWait = cmp.Or(options.MaxWait, 30*time.Second)
	options.UploadWait = cmp.Or(options.UploadWait, 2*time.Minute)
	return &Client{origin: strings.TrimRight(origin, "/"), options: options, token: options.Token}
}

// checkOrigin refuses what is no origin: nothing or more than a scheme and a host.
func checkOrigin(origin string) error {
	u, err := url.Parse(strings.TrimRight(origin, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || *u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return fmt.Errorf("%q is no origin such as https://stoa.example", origin)
	}
	return nil
}

// Origin is the origin of the server, without a slash at its end.
func (c *Client) Origin() string { return c.origin }

// Token is the bearer token in use.
func (c *Client) Token() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.token
}

// SetToken replaces the bearer token, as registration and rotation do.
func (c *Client) SetToken(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
}

// Answer is an answer read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	// to names the request in errors.
	to string
}

// request is a request to a path of the origin. contentType is the media type of the body, empty for JSON; part is the Range of a
// file, empty for all of it; expected is the size of a file that it asks for. Below Prefix it carries the token.
type request struct {
	method, path, contentType, part string
	body                            []byte
	expected                        int64
}

// Once makes one request to a path below /api/v1 and does not repeat it. It returns an answer of any status, or an error if no
// answer came. A nil body sends none; any other is sent as JSON.
func (c *Client) Once(ctx context.Context, method, path string, body []byte) (*Answer, error) {
	return c.once(ctx, request{method: method, path: Prefix + path, body: body})
}

// once waits for the answer as long as the path and the size of its body or file say.
func (c *Client) once(ctx context.Context, r request) (*Answer, error) {
	size := int64(len(r.body)) + min(max(r.expected, 0), maxAnswer)
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout+waitOf(r.path)+time.Duration(size)*time.Second/slowest)
	defer cancel()
	made, err := http.NewRequestWithContext(ctx, r.method, c.origin+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, cmp.Or(checkOrigin(c.origin), err)
	}
	path, ofAPI := strings.CutPrefix(r.path, Prefix)
	if token := c.Token(); ofAPI && token != "" {
		made.Header.Set("Authorization", "Bearer "+token)
	}
	if r.body != nil {
		made.Header.Set("Content-Type", cmp.Or(r.contentType, "application/json"))
	}
	if r.part != "" {
		made.Header.Set("Range", r.part)
	}
	response, err := c.options.HTTP.Do(made)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, path, err)
	}
	return &Answer{response.StatusCode, response.Header, raw, r.method + " " + path}, nil
}

func (c *Client) get(ctx context.Context, path string) (*Answer, error) {
	return c.repeat(ctx, true, request{method: http.MethodGet, path: path})
}

// waitOf is how long the server may keep a poll waiting (§4.10).
func waitOf(path string) time.Duration {
	_, query, _ := strings.Cut(path, "?")
	values, _ := url.ParseQuery(query)                      // it has the well-formed part
	wait, _ := time.ParseDuration(values.Get("wait") + "s") // 0 if it is missing
	return max(0, wait)
}

// Do makes a request, with repeats where they are allowed, and decodes the answer into result, nil for nothing. body is sent as
// JSON; nil sends none. The error is a *Fault if the server answered.
func (c *Client) Do(ctx context.Context, method, path string, body, result any) error {
	answer, err := c.call(ctx, method, path, body)
	if err != nil || result == nil {
		return err
	}
	return answer.decode(result)
}

// call is Send with a body that is written as JSON; nil sends none.
func (c *Client) call(ctx context.Context, method, path string, body any) (*Answer, error) {
	if body == nil {
		return c.Send(ctx, method, path, nil)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.Send(ctx, method, path, raw)
}

func (a *Answer) decode(result any) error {
	if err := json.Unmarshal(a.Body, result); err != nil {
		return fmt.Errorf("the answer to %s: %w", a.to, err)
	}
	return nil
}

// One makes a request whose answer holds a record under a name, or is the record if the name is empty.
func One[T any](ctx context.Context, c *Client, method, path, name string, body any) (record T, err error) {
	answer, err := c.call(ctx, method, path, body)
	if err != nil {
		return record, err
	}
	return recordOf[T](answer, name)
}

func recordOf[T any](a *Answer, name string) (record T, err error) {
	var members map[string]json.RawMessage
	if err := a.decode(&members); err != nil {
		return record, err
	}
	raw := members[name]
	if name == "" {
		raw = a.Body
	}
	if raw == nil {
		return record, fmt.Errorf("the answer to %s has no member %s", a.to, name)
	}
	if record, err = decodeRecord[T](raw); err != nil {
		err = fmt.Errorf("%s in the answer to %s: %w", name, a.to, err)
	}
	return record, err
}

// Whole is embedded in every record. It keeps the JSON that the server sent, including members that this package does not know.
type Whole struct{ raw json.RawMessage }

// JSON returns the record as the server sent it, nil if the record is not from an answer.
func (w Whole) JSON() json.RawMessage { return w.raw }

func (w *Whole) keep(raw json.RawMessage) { w.raw = raw }

func decodeRecord[T any](raw json.RawMessage) (record T, err error) {
	if err := json.Unmarshal(raw, &record); err != nil {
		return record, err
	}
	if keeper, ok := any(&record).(interface{ keep(raw json.RawMessage) }); ok {
		keeper.keep(raw)
	}
	return record, nil
}
