package operatorcli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// signInCommand asks for a one-time link to the operator console.
type signInCommand struct{}

// signInAnswer is the server's.
type signInAnswer struct {
	Path      string `json:"path"`
	ExpiresIn int    `json:"expires_in"`
}

// Run implements kong's command.
func (signInCommand) Run(d *deps) error {
	origin, err := d.connection.origin()
	if err != nil {
		return err
	}
	token, source, err := d.connection.credential()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, origin+"/sign-in/codes", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := (&authenticatedClient{client: &http.Client{Timeout: answerTimeout}, token: token}).Do(request)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", origin, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &RefusedError{text: fmt.Sprintf("the server refused (%s); the token came from %s", answer.Status, source)}
	}
	var made signInAnswer
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil {
		return fmt.Errorf("the answer of %s: %w", origin, err)
	}
	if d.json {
		return json.NewEncoder(d.out).Encode(map[string]any{"url": origin + made.Path, "expiresIn": made.ExpiresIn})
	}
	_, err = fmt.Fprintln(d.out, origin+made.Path)
	return err
}
