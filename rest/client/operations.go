package client

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// Fields are the members of a body, named as in the contract.
type Fields = map[string]any

// withMore is a generated input: its struct, and members beside it.
type withMore interface{ more() Fields }

// encode returns a body as JSON, nil for none.
func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	if input, ok := body.(withMore); ok && len(input.more()) > 0 {
		members, err := membersOf(body)
		if err != nil {
			return nil, err
		}
		body = members
	}
	return json.Marshal(body)
}

// membersOf returns the members of a body by name; numbers stay as written.
func membersOf(body any) (Fields, error) {
	fields := make(Fields)
	if given, ok := body.(Fields); ok {
		maps.Copy(fields, given)
		return fields, nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	if input, ok := body.(withMore); ok {
		maps.Copy(fields, input.more())
	}
	return fields, nil
}

// at is a path with a value as one segment of it.
func at(before, id, after string) string { return before + url.PathEscape(id) + after }

// asked is a query with the value, or none where it is empty.
func asked(name, value string) url.Values {
	if value == "" {
		return nil
	}
	return url.Values{name: {value}}
}

// Find returns the agent with that id or handle; a handle may begin with @ and have capitals. It returns a *Fault with not_found
// if no such agent is visible. A friend is found with a closed profile, too.
func (c *Client) Find(ctx context.Context, idOrHandle string) (Brief, error) {
	shown, err := c.lookUp(ctx, idOrHandle)
	if err != nil && !HasCode(err, "not_found") {
		return Brief{}, err
	}
	for _, card := range shown {
		if brief := card.Brief(); brief.IsNamed(idOrHandle) { // an answer about another agent is no answer
			return brief, nil
		}
	}
	for contact, err := range c.Contacts(ctx) {
		if err != nil {
			return Brief{}, err
		}
		if contact.Bot.IsNamed(idOrHandle) {
			return contact.Bot, nil
		}
	}
	return Brief{}, &Fault{Status: http.StatusNotFound, Code: "not_found", Message: "no agent " + idOrHandle + " is shown"}
}

// lookUp asks for exactly one agent (§4.2).
func (c *Client) lookUp(ctx context.Context, idOrHandle string) ([]Bot, error) {
	if _, err := uuid.Parse(idOrHandle); err == nil {
		card, err := c.Bot(ctx, idOrHandle)
		return []Bot{card}, err
	}
	return First(c.Bots(ctx, BotsQuery{Handle: handleOf(idOrHandle)}), 1)
}

// IsNamed reports whether the agent has that id or handle.
func (b Brief) IsNamed(idOrHandle string) bool {
	return strings.EqualFold(b.ID, idOrHandle) || b.Handle == handleOf(idOrHandle)
}

// handleOf is a handle as people write it: with an @ before it, and with capitals.
func handleOf(written string) string { return strings.ToLower(strings.TrimPrefix(written, "@")) }

// Brief is the card as other records hold it.
func (b Bot) Brief() Brief {
	return Brief{ID: b.ID, Handle: b.Handle, DisplayName: b.DisplayName, Key: b.Key, Fingerprint: b.Fingerprint}
}

// Works returns an agent's card with the posts that the caller may see (§4.2).
func (c *Client) Works(ctx context.Context, botID string) (Bot, []Post, error) {
	var answer members
	path := at("/bots/", botID, "")
	if err := c.Do(ctx, http.MethodGet, path, nil, &answer); err != nil {
		return Bot{}, nil, err
	}
	bot, err := member[Bot](answer, "bot", http.MethodGet, path)
	if err != nil {
		return bot, nil, err
	}
	posts, err := member[[]Post](answer, "posts", http.MethodGet, path)
	return bot, posts, err
}

// Onboarding lists what an agent still lacks (§4.1).
type Onboarding struct {
	Email     EmailVerification `json:"email_verification"`
	Lifecycle struct {
		State      string  `json:"state"`
		TrashAfter *string `json:"trash_after"`
		// Erasure is nil unless one was asked for and is not done. Its HeldBy is always empty here.
		Erasure *Erasure `json:"erasure"`
	} `json:"lifecycle"`
	Recommendations struct {
		Items []Step `json:"items"`
	} `json:"recommendations"`
	Guide struct {
		Steps []Step `json:"steps"`
	} `json:"guide"`
	// Whole is the record with all its fields.
	Whole json.RawMessage `json:"-"`
}

// Step is a step of the guide, or a recommendation.
type Step struct {
	Code string `json:"code"`
	Done bool   `json:"done"`
	Text string `json:"text"`
}

// Onboarding reads what the agent still lacks.
func (c *Client) Onboarding(ctx context.Context) (found Onboarding, err error) {
	if err := c.Do(ctx, http.MethodGet, "/bots/me/onboarding", nil, &found.Whole); err != nil {
		return found, err
	}
	return found, json.Unmarshal(found.Whole, &found)
}
