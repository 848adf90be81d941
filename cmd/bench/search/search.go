// Package search measures searches without a token over the tasks of world.AddTasks: how long each text takes, and how much
// slower GET /bots/me becomes while many of them run.
package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// Searchers is the number of connections that search while GET /bots/me is measured.
const Searchers = 64

// request is a search for tasks without a token.
func request(text string) []byte {
	return load.AppendRequest(nil, http.MethodGet, "/api/v1/tasks?q="+url.QueryEscape(text), "", nil)
}

// Text is how long the searches for one text took.
type Text struct {
	Text string
	// Rounds are the latencies of each round, ascending.
	Rounds [][]time.Duration
}

// P99 is the 99th percentile over all rounds.
func (t Text) P99() time.Duration {
	all := slices.Concat(t.Rounds...)
	slices.Sort(all)
	return load.Quantile(all, 0.99)
}

// MeasureTexts searches for each text on one connection, several times in each round, in random order.
func MeasureTexts(ctx context.Context, server *world.Process, texts []string, rounds, times int) ([]Text, error) {
	client, err := load.Dial(ctx, server.Address)
	if err != nil {
		return nil, err
	}
	defer client.Close() //nolint:errcheck // all responses were read
	results := make([]Text, len(texts))
	for round := range rounds + 1 {
		for _, i := range rand.Perm(len(texts)) {
			search := request(texts[i])
			latencies := make([]time.Duration, times)
			for n := range latencies {
				before := time.Now()
				if _, err := client.Expect(http.StatusOK, search); err != nil {
					return nil, fmt.Errorf("search for %q: %w", texts[i], err)
				}
				latencies[n] = time.Since(before)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if round > 0 { // the first one warms up
				slices.Sort(latencies)
				results[i].Text, results[i].Rounds = texts[i], append(results[i].Rounds, latencies)
			}
		}
	}
	return results, nil
}

// Isolation is the 99th percentile of GET /bots/me in each round, with nothing else to do and while searches run.
type Isolation struct {
	Connections int
	Quiet, Busy []time.Duration
	// PerSecond is the number of searches that ended in a second of each round.
	PerSecond []float64
}

// MeasureIsolation measures GET /bots/me with a number of connections in rounds of twice length.
func MeasureIsolation(
	ctx context.Context, w *world.World, server *world.Process, connections, rounds int, length time.Duration,
) (Isolation, error) {
	result := Isolation{Connections: connections}
	var clients []*load.Client
	defer func() {
		for _, client := range clients {
			_ = client.Close() // not used any more
		}
	}()
	dial := func(op func(*load.Client) load.Op) (load.Op, error) {
		client, err := load.Dial(ctx, server.Address)
		if err != nil {
			return nil, err
		}
		clients = append(clients, client)
		return op(client), nil
	}
	var callers, searchers []load.Op
	for i := range connections {
		op, err := dial(func(c *load.Client) load.Op { return scenarios.Me(w.Agents[2*i], c) })
		if err != nil {
			return Isolation{}, err
		}
		callers = append(callers, op)
	}
	for i := range Searchers {
		op, err := dial(func(c *load.Client) load.Op { return searchAll(c, i) })
		if err != nil {
			return Isolation{}, err
		}
		searchers = append(searchers, op)
	}
	if _, err := load.Run(ctx, callers, length); err != nil { // warms up
		return Isolation{}, err
	}
	for range rounds {
		for _, busy := range rand.Perm(2) {
			if busy == 0 {
				sample, err := load.Run(ctx, callers, length)
				if err != nil {
					return Isolation{}, err
				}
				result.Quiet = append(result.Quiet, sample.Quantile(0.99))
				continue
			}
			p99, perSecond, err := measureBusy(ctx, callers, searchers, length)
			if err != nil {
				return Isolation{}, err
			}
			result.Busy, result.PerSecond = append(result.Busy, p99), append(result.PerSecond, perSecond)
		}
	}
	return result, nil
}

// measureBusy runs the callers while the searchers run, and waits until all have ended.
func measureBusy(
	ctx context.Context, callers, searchers []load.Op, length time.Duration,
) (p99 time.Duration, perSecond float64, err error) {
	const lead = 100 * time.Millisecond // until all searches are waiting or running
	searching, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		load.Sample
		err error
	}
	searches := make(chan outcome, 1)
	go func() {
		sample, err := load.Run(searching, searchers, time.Hour)
		searches <- outcome{sample, err}
	}()
	select {
	case failed := <-searches:
		return 0, 0, failed.err
	case <-time.After(lead):
	}
	sample, err := load.Run(ctx, callers, length)
	cancel()
	searched := <-searches
	if err == nil && !errors.Is(searched.err, context.Canceled) {
		err = searched.err
	}
	return sample.Quantile(0.99), searched.PerSecond(), err
}

// searchAll searches for one text after the other, beginning with text number from. Under load the server may refuse a search
// (503).
func searchAll(c *load.Client, from int) load.Op {
	return func(context.Context) error {
		from++
		search := request(world.SearchTexts[from%len(world.SearchTexts)])
		status, body, err := c.Do(search)
		if err == nil && status != http.StatusOK && status != http.StatusServiceUnavailable {
			err = fmt.Errorf("search: status %d: %s", status, body)
		}
		return err
	}
}
