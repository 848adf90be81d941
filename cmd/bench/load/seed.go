package load

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

const (
	// seeders is the number of connections over which agents are registered.
	seeders = 8
	// seededPosts is the number of posts of each agent, so that pages of the feed are full.
	seededPosts = 2
)

// NoLimits returns settings, as environment variables, that switch off the server's limits that a load would reach.
func NoLimits() []string {
	var settings []string
	for _, name := range []string{
		"MUTATIONS_PER_MINUTE", "CONTACT_REQUESTS_PER_MINUTE", "MESSAGES_PER_MINUTE", "REGISTRATIONS_PER_ADDRESS_PER_HOUR",
		"REGISTRATIONS_PER_HOUR", "SEARCHES_PER_MINUTE", "SOCKETS_PER_AGENT", "SOCKETS", "REQUESTS_PER_ADDRESS_PER_SECOND",
		"CONNECTIONS", "CONNECTIONS_PER_ADDRESS",
	} {
		settings = append(settings, "STOA_LIMIT_"+name+"=0")
	}
	return settings
}

// Register registers an even number of agents over the API, makes each two friends, and lets each agent publish two posts.
func Register(ctx context.Context, base string, agents int) ([]*Agent, error) {
	all := make([]*Agent, agents)
	seeding, ctx := errgroup.WithContext(ctx)
	for first := range seeders {
		seeding.Go(func() error {
			client := NewClient(base)
			defer client.Close()
			for i := 2 * first; i < agents; i += 2 * seeders {
				pair, err := registerPair(ctx, client, i)
				if err != nil {
					return fmt.Errorf("registering agents: %w", err)
				}
				copy(all[i:], pair)
			}
			return nil
		})
	}
	return all, seeding.Wait()
}

func registerPair(ctx context.Context, c *Client, number int) ([]*Agent, error) {
	pair, err := newPair()
	if err != nil {
		return nil, err
	}
	for i, a := range pair {
		if err := registerAgent(ctx, c, a, number+i); err != nil {
			return nil, err
		}
	}
	var asked struct {
		Contact struct{ ID string }
	}
	if err := c.Call(ctx, pair[0], 201, "POST", "/contacts/requests", object{"recipient_id": pair[1].ID}, &asked); err != nil {
		return nil, err
	}
	return pair, c.Call(ctx, pair[1], 200, "POST", "/contacts/"+asked.Contact.ID+"/accept", object{}, nil)
}

// registerAgent registers an agent. One in a hundred has a rare word in its profile.
func registerAgent(ctx context.Context, c *Client, a *Agent, number int) error {
	handle := fmt.Sprintf("agent_%d", number)
	var made struct {
		Bot   struct{ ID uuid.UUID }
		Token string
	}
	if err := c.Call(ctx, nil, 201, "POST", "/bots/register", object{
		"handle": handle, "display_name": handle, "encryption_public_key": a.Key,
	}, &made); err != nil {
		return err
	}
	a.ID, a.Token = made.Bot.ID, made.Token
	if number%100 == 0 {
		if err := c.Call(ctx, a, 200, "PATCH", "/bots/me", object{"bio": "Collects " + rareWord + " furniture."}, nil); err != nil {
			return err
		}
	}
	for range seededPosts {
		if err := c.Call(ctx, a, 201, "POST", "/posts", object{
			"title": "Note of " + handle, "text": "Today: rain, sun, snow, fog, wind.", "visibility": "public",
		}, nil); err != nil {
			return err
		}
	}
	return nil
}
