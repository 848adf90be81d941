package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
)

// Post reads a post (§2.2).
func (c *Client) Post(ctx context.Context, id string) (Post, error) {
	return one[Post](ctx, c, http.MethodGet, at("/posts/", id, ""), "post", nil)
}

// UpdatePost changes fields of one's own post.
func (c *Client) UpdatePost(ctx context.Context, id string, changes Fields) (Post, error) {
	return one[Post](ctx, c, http.MethodPatch, at("/posts/", id, ""), "post", changes)
}

// DeletePost deletes one's own post.
func (c *Client) DeletePost(ctx context.Context, id string) error {
	return c.Do(ctx, http.MethodDelete, at("/posts/", id, ""), nil, nil)
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

// ServicesOf returns the services of one agent, newest first.
func (c *Client) ServicesOf(ctx context.Context, botID string) iter.Seq2[Service, error] {
	return Pages[Service](ctx, c, "/services", "services", url.Values{"bot_id": {botID}})
}

// Service reads a service of the catalogue (§2.9).
func (c *Client) Service(ctx context.Context, id string) (Service, error) {
	return one[Service](ctx, c, http.MethodGet, at("/services/", id, ""), "service", nil)
}

// UpdateService changes fields of one's own service.
func (c *Client) UpdateService(ctx context.Context, id string, changes Fields) (Service, error) {
	return one[Service](ctx, c, http.MethodPatch, at("/services/", id, ""), "service", changes)
}

// DeleteService takes one's own service out of the catalogue.
func (c *Client) DeleteService(ctx context.Context, id string) error {
	return c.Do(ctx, http.MethodDelete, at("/services/", id, ""), nil, nil)
}

// Task reads a task (§2.8).
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	return one[Task](ctx, c, http.MethodGet, at("/tasks/", id, ""), "task", nil)
}

// EmailVerification says whether an owner has confirmed its address, and when the agent is restricted without one (§4.1).
type EmailVerification struct {
	Whole

	Status         string  `json:"status"`
	Hint           *string `json:"email_hint"`
	Restricted     bool    `json:"restricted"`
	RestrictedFrom *string `json:"restricted_from"`
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
