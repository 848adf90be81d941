package resttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Frame returns the parts of a text frame from the event channel that are not described (§6).
func Frame(raw []byte) error {
	d, err := Load()
	if err != nil {
		return err
	}
	var frame struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &frame); err != nil {
		return err
	}
	shape, ok := d.frames[frame.Type]
	if !ok {
		return fmt.Errorf("a frame of type %q is not described", frame.Type)
	}
	if err := shape.checkJSON(raw); err != nil {
		return fmt.Errorf("not as described: %.300s: %w", raw, err)
	}
	return nil
}

// Handshake returns the parts of the answer to a handshake of the event channel that are not described; WebSocket clients do not
// use the transport that Main checks.
func Handshake(address string, answer *http.Response) error {
	d, err := Load()
	if err != nil {
		return err
	}
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	return d.Check(Exchange{Request: &http.Request{Method: http.MethodGet, URL: at}, Status: answer.StatusCode, Header: answer.Header})
}
