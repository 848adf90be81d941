package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// UsageError says that an argument is missing or invalid. The exit code is 2.
type UsageError struct{ Text string }

// Error implements error.
func (e *UsageError) Error() string { return e.Text }

// RefusedError is an error that the server answered.
type RefusedError struct {
	// Code is one of §7.
	Code string
	text string
}

// Error implements error.
func (e *RefusedError) Error() string { return e.text }

// Refused returns the error for an answer that is no GraphQL.
func (c *Client) Refused(status string) error {
	return &RefusedError{text: fmt.Sprintf("the server refused (%s); the token came from %s", status, c.tokenSource)}
}

// refusal is an error of a GraphQL answer.
type refusal struct {
	Message    string `json:"message"`
	Extensions *struct {
		Code       string            `json:"code"`
		Fields     map[string]string `json:"fields"`
		RetryAfter float64           `json:"retryAfter"` //nolint:tagliatelle // as GraphQL has it
	} `json:"extensions"`
}

// Ask carries out a GraphQL operation and decodes its data into a pointer; numbers without a type become json.Number.
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

// explain returns an error of an answer, with the fields that caused it.
func (c *Client) explain(first refusal) error {
	if first.Extensions == nil {
		return &RefusedError{text: strings.TrimSuffix(first.Message, ".")}
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
	if extensions.RetryAfter > 0 {
		fmt.Fprintf(&said, "\n  try again in %.0f s", extensions.RetryAfter)
	}
	return &RefusedError{extensions.Code, said.String()}
}
