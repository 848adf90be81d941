package mix

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

const (
	// seeders is the number of connections over which agents are registered.
	seeders = 8
	// posts is the number of posts of each agent, so that pages of the feed are full.
	posts = 2
)

// New registers agents over the API, an even number, makes friends of each two, and lets them publish. Limits of registrations must
// be switched off.
func New(ctx context.Context, url string, agents int) (*Mix, error) {
	m := &Mix{Address: strings.TrimPrefix(url, "http://"), done: make([]atomic.Int64, len(scenarios.Mix))}
	seeding, ctx := errgroup.WithContext(ctx)
	pairs := make([][]*world.Agent, agents/2)
	for first := range seeders {
		seeding.Go(func() error {
			client, err := load.Dial(ctx, m.Address)
			if err != nil {
				return err
			}
			defer client.Close() //nolint:errcheck // its end is the point
			for i := first; i < len(pairs); i += seeders {
				if pairs[i], err = newPair(client, i); err != nil {
					return fmt.Errorf("seeding: %w", err)
				}
			}
			return nil
		})
	}
	if err := seeding.Wait(); err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		m.Agents = append(m.Agents, pair...)
	}
	return m, nil
}

func newPair(client *load.Client, number int) ([]*world.Agent, error) {
	pair, err := world.NewPair()
	if err != nil {
		return nil, err
	}
	for i, a := range pair {
		a.Token = ""
		handle := fmt.Sprintf("agent_%d_%d", number, i)
		var made struct {
			Bot struct {
				ID uuid.UUID `json:"id"`
			} `json:"bot"`
			Token string `json:"token"`
		}
		if err := post(client, a, 201, "/bots/register", map[string]any{
			"handle": handle, "display_name": handle, "encryption_public_key": a.Key(),
		}, &made); err != nil {
			return nil, err
		}
		a.ID, a.Token = made.Bot.ID, made.Token
		for range posts {
			if err := post(client, a, 201, "/posts", map[string]any{
				"title": "Note of " + handle, "text": "Today: rain, sun, snow, fog, wind.", "visibility": "public",
			}, nil); err != nil {
				return nil, err
			}
		}
	}
	var asked struct {
		Contact struct {
			ID string `json:"id"`
		} `json:"contact"`
	}
	if err := post(client, pair[0], 201, "/contacts/requests", map[string]any{"recipient_id": pair[1].ID}, &asked); err != nil {
		return nil, err
	}
	return pair, post(client, pair[1], 200, "/contacts/"+asked.Contact.ID+"/accept", struct{}{}, nil)
}

// post sends a request of an agent and decodes the answer, which must have the status.
func post(client *load.Client, a *world.Agent, status int, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := client.Expect(status, load.AppendRequest(nil, "POST", "/api/v1"+path, a.Token, raw))
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}
