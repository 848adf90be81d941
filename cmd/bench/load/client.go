// Package load puts a server under load: callers each send one request after the other on their own keep-alive connection (a
// closed loop), as agents that the package has registered. The table Scenarios holds the operations.
package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
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

// Call sends a request in the name of an agent, or without its token if a is nil, and with a body as JSON unless that is nil. The answer
// must have the status, and is decoded into `into` unless that is nil.
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
