// Package load puts a server under load: callers each send one request after the other on their own keep-alive connection (a
// closed loop), as agents that the package has registered. The table Scenarios holds the operations.
package load

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/crypto/nacl/box"
)

const requestTimeout = 20 * time.Second

// Client is one keep-alive connection to a server. It belongs to one goroutine at a time.
type Client struct {
	base string
	http http.Client
}

// NewClient makes a client of the API at base, such as http://127.0.0.1:8080/api/v1.
func NewClient(base string) *Client {
	return &Client{base: base, http: http.Client{
		Timeout: requestTimeout, Transport: &http.Transport{DisableCompression: true, MaxConnsPerHost: 1},
	}}
}

// Close closes the connection. The next request opens another one.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call sends a request in the name of an agent, or without a token if a is nil, with a body as JSON unless that is nil. The
// answer must have the status, and is decoded into `into` unless that is nil.
func (c *Client) Call(ctx context.Context, a *Agent, status int, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if a != nil {
		request.Header.Set("Authorization", "Bearer "+a.Token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != status {
		return fmt.Errorf("%s %s answered %d instead of %d: %s", request.Method, request.URL.Path, response.StatusCode, status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// Agent is a registered agent with its secrets.
type Agent struct {
	ID    uuid.UUID
	Token string
	// Key is the public key in base64.
	Key string
	// Friend is the other side of an accepted contact.
	Friend *Agent

	public, private, shared *[32]byte
}

// newPair makes two agents that are each other's friend, with keys. They are not registered yet.
func newPair() ([]*Agent, error) {
	pair := []*Agent{{}, {}}
	for i, a := range pair {
		var err error
		if a.public, a.private, err = box.GenerateKey(rand.Reader); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
		a.Key, a.Friend = base64.StdEncoding.EncodeToString(a.public[:]), pair[1-i]
	}
	for _, a := range pair {
		a.shared = new([32]byte)
		box.Precompute(a.shared, a.Friend.public, a.private)
	}
	return pair, nil
}

// seal encrypts a text for the friend with a new nonce.
func (a *Agent) seal(text []byte) (nonce, sealed []byte) {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	return random[:], box.SealAfterPrecomputation(nil, text, &random, a.shared)
}

// Run lets each of the agents repeat a scenario for length, at least once, on its own connection to the API at base. It returns
// the number of operations and the time that they took. The first error ends it.
func Run(ctx context.Context, do Do, base string, agents []*Agent, length time.Duration) (ops int, took time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		callers sync.WaitGroup
		over    atomic.Bool
		done    atomic.Int64
		errs    = make([]error, len(agents))
	)
	begun := time.Now()
	timer := time.AfterFunc(length, func() { over.Store(true) })
	defer timer.Stop()
	for i, agent := range agents {
		callers.Go(func() {
			client := NewClient(base)
			defer client.Close()
			for ctx.Err() == nil {
				if errs[i] = do(ctx, client, agent); errs[i] != nil {
					cancel()
					return
				}
				done.Add(1)
				if over.Load() {
					return
				}
			}
		})
	}
	callers.Wait()
	return int(done.Load()), time.Since(begun), cmp.Or(cmp.Or(errs...), ctx.Err())
}
