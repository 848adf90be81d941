package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"stoa/rest/client"
)

// Server is the public listener of a running Stoa. It is safe for concurrent use.
type Server struct {
	origin  string
	timeout time.Duration
}

// NewServer takes the origin, such as http://127.0.0.1:8080, and how long an answer or an event may take.
func NewServer(origin string, timeout time.Duration) *Server { return &Server{origin, timeout} }

// as is a client with that token.
func (s *Server) as(token string) *client.Client {
	return client.New(s.origin, client.Options{Token: token, Timeout: s.timeout})
}

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header
	Raw    []byte
	call   string
}

// Send makes one request to a path below /api/v1. A nil body sends none, an empty token no Authorization.
func (s *Server) Send(ctx context.Context, method, path, token string, body any) (Answer, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return Answer{}, err
		}
	}
	got, err := s.as(token).Once(ctx, method, path, raw)
	if err != nil {
		return Answer{}, err
	}
	return Answer{got.Status, got.Header, got.Body, method + " " + path}, nil
}

// Into requires a status and reads the body.
func (a Answer) Into(status int, body any) error {
	if a.Status != status {
		return fmt.Errorf("%s answered %d instead of %d: %s", a.call, a.Status, status, a.Raw)
	}
	if err := json.Unmarshal(a.Raw, body); err != nil {
		return fmt.Errorf("%s: %w", a.call, err)
	}
	return nil
}

// Refused requires an error body with that code (§7).
func (a Answer) Refused(status int, code string) error {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if err := a.Into(status, &body); err != nil {
		return err
	}
	return same("code", body.Error.Code, code)
}

// same requires two values to be equal.
func same[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v instead of %v", what, got, want)
	}
	return nil
}
