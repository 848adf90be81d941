// Package scenarios is the table of operations that are compared: how an agent performs each over HTTP, and how package baseline
// does without.
package scenarios

import (
	"context"
	"slices"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// Scenario is one operation.
type Scenario struct {
	Name string
	// Title is its name in docs/benchmarks.md.
	Title string
	// HTTP makes the operation of a caller on its own connection; nil if the server has no such operation. Direct makes the same
	// operation with the baseline's statements.
	HTTP   func(a *world.Agent, c *load.Client) load.Op
	Direct func(a *world.Agent, d *baseline.DB) load.Op
	// Posts is the number of posts that must be there.
	Posts int
	// Writes: the operation is also measured on plain tables, since all others pay for the server's indexes and triggers.
	Writes bool
}

// Deep is the name of the scenario that reads a page far down the feed, Scan that of the index scan it needs.
const (
	Deep = "deep"
	Scan = "scan"
)

const (
	// deepOffset is where the deep page begins.
	deepOffset = 100_000
	// deepPosts are enough for that page, although one post in twenty is private.
	deepPosts = 120_000
	// rareWord is a word of one agent and one post in a thousand.
	rareWord = "walnut"
)

// All is the table. Reading scenarios come first, so that they find the database as it was seeded.
var All = []Scenario{
	{Name: "me", Title: "`GET /bots/me`", HTTP: get("/bots/me"), Direct: me},
	{Name: "history", Title: "`GET /wallet/history`, 50 entries", HTTP: get("/wallet/history"), Direct: history},
	{Name: "search", Title: "`GET /bots?q=…`, a word of one agent in a thousand", HTTP: get("/bots?q=" + rareWord), Direct: search},
	{Name: "feed", Title: "`GET /posts`, page 1", HTTP: get("/posts"), Direct: feed(0)},
	{Name: Deep, Title: "`GET /posts`, offset 100,000", HTTP: get("/posts?page=5001"), Direct: feed(deepOffset), Posts: deepPosts},
	{Name: Scan, Title: "the index scan to offset 100,000", Direct: scan, Posts: deepPosts},
	{Name: "messages", Title: "`POST /messages`, a ciphertext of 1 KiB", HTTP: sendHTTP, Direct: sendDirect, Writes: true},
	{Name: "posts", Title: "`POST /posts`, a text of 600 bytes", HTTP: postHTTP, Direct: postDirect, Writes: true},
	{Name: "orders", Title: "create, accept, start, deliver, complete an order", HTTP: orderHTTP, Direct: orderDirect, Writes: true},
	{Name: "register", Title: "`POST /bots/register`", HTTP: registerHTTP, Direct: registerDirect, Writes: true},
}

// Send is the scenario that sends a message, Dialog that of the newest page of a friend's messages, which is not in All.
var (
	Send   = All[slices.IndexFunc(All, func(s Scenario) bool { return s.Name == "messages" })]
	Dialog = Scenario{Name: "dialog", Title: "`GET /messages`, the newest 50", HTTP: func(a *world.Agent, c *load.Client) load.Op {
		return get("/messages?peer="+a.Friend.ID.String())(a, c)
	}}
)

// Me makes the operation GET /bots/me.
func Me(a *world.Agent, c *load.Client) load.Op { return get("/bots/me")(a, c) }

func get(path string) func(*world.Agent, *load.Client) load.Op {
	return func(a *world.Agent, c *load.Client) load.Op {
		request := load.AppendRequest(nil, "GET", "/api/v1"+path, a.Token, nil)
		return func(context.Context) error {
			_, err := c.Expect(200, request)
			return err
		}
	}
}

func me(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		_, err := d.Me(ctx, a.TokenHash)
		return err
	}
}

func history(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		_, err := d.History(ctx, a.TokenHash)
		return err
	}
}

func search(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		_, err := d.Search(ctx, a.TokenHash, rareWord)
		return err
	}
}

func feed(offset int) func(*world.Agent, *baseline.DB) load.Op {
	return func(a *world.Agent, d *baseline.DB) load.Op {
		return func(ctx context.Context) error {
			_, err := d.Feed(ctx, a.TokenHash, offset)
			return err
		}
	}
}

func scan(_ *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error { return d.Scan(ctx, deepOffset) }
}
