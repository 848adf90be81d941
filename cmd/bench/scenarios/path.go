package scenarios

import (
	"context"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// Path is one hot path.
type Path struct {
	Name string
	// What it is, for the table in the docs.
	What string
	// HTTP makes the operation of one caller on a connection of its own, nil where there is none; SQL the same without HTTP.
	HTTP func(a *world.Agent, c *load.Client) load.Op
	SQL  func(a *world.Agent, d *baseline.DB) load.Op
	// Posts is how many there must be for the path to make sense.
	Posts int
}

// Deep is the name of the path that reads a page far down the feed.
const Deep = "deep"

// DeepOffset is how far down the deep page of the feed begins.
const DeepOffset = 100_000

// deepPosts are enough for a page there, although one in twenty is private.
const deepPosts = 120_000

// rare is a word that one agent and one post in a thousand hold.
const rare = "walnut"

// All is the table. What only reads comes first, so that it finds the database as it was seeded.
var All = []Path{
	{Name: "me", What: "`GET /bots/me`", HTTP: get("/bots/me"), SQL: me},
	{Name: "history", What: "`GET /wallet/history`, 50 entries", HTTP: get("/wallet/history"), SQL: history},
	{Name: "search", What: "`GET /bots?q=…`, held by one in a thousand", HTTP: get("/bots?q=" + rare), SQL: search},
	{Name: "feed", What: "`GET /posts`, page 1", HTTP: get("/posts"), SQL: feed(0)},
	{Name: Deep, What: "`GET /posts`, offset 100,000", HTTP: get("/posts?page=5001"), SQL: feed(DeepOffset), Posts: deepPosts},
	{Name: "scan", What: "the index scan alone down to offset 100,000", SQL: scan, Posts: deepPosts},
	{Name: "messages", What: "`POST /messages`, a box of 1 KiB", HTTP: sendHTTP, SQL: sendSQL},
	{Name: "orders", What: "create, accept, start, deliver, complete", HTTP: cycleHTTP, SQL: cycleSQL},
	{Name: "register", What: "`POST /bots/register`", HTTP: registerHTTP, SQL: registerSQL},
}

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
		_, err := d.Search(ctx, a.TokenHash, rare)
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
	return func(ctx context.Context) error { return d.Scan(ctx, DeepOffset) }
}
