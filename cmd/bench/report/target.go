package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/ws"
)

// target is one row of the table of targets.
type target struct {
	what string
	// values are the measured values; empty if nothing was measured.
	values func(d *Data) []value
}

// value is one measurement of a target.
type value struct {
	// connections is 0 if the target has one measurement only.
	connections int
	text        string
	met         bool
}

// busy are the numbers of connections at which both cores are always at work.
var busy = []int{16, 64}

// targets of the server on two shared cores. A target is met when the median meets it.
var targets = []target{
	{"`GET /bots/me`: at least 0.80 of the minimal server's throughput", throughput("me", compare.Minimal, 0.80, busy...)},
	{"`POST /messages`: at least 0.80 of the minimal server's throughput", throughput("messages", compare.Minimal, 0.80, busy...)},
	{"order cycle: at least 0.80 of the minimal server's throughput", throughput("orders", compare.Minimal, 0.80, busy...)},
	{"`POST /bots/register`: at least 0.85 of the minimal server's throughput", throughput("register", compare.Minimal, 0.85, busy...)},
	{"feed, page 1: at least 0.95 of the minimal server's throughput", throughput("feed", compare.Minimal, 0.95, busy...)},
	{"`POST /bots/register`: at least 0.6 of the throughput on plain tables", throughput("register", compare.Plain, 0.6, busy...)},
	{"`POST /posts`: at least 0.6 of the throughput on plain tables", throughput("posts", compare.Plain, 0.6, busy...)},
	{"`POST /messages`: at least 0.9 of the throughput on plain tables", throughput("messages", compare.Plain, 0.9, busy...)},
	{"order cycle: at least 0.85 of the throughput on plain tables", throughput("orders", compare.Plain, 0.85, busy...)},
	{"`POST /messages`: at most 1.2 times the minimal server's PostgreSQL time", times("messages", compare.Minimal, postgresTime, 1.2, busy...)},
	{"order cycle: at most 1.15 times the minimal server's PostgreSQL time", times("orders", compare.Minimal, postgresTime, 1.15, busy...)},
	{"feed at offset 100,000: within 5 times page 1 plus the index scan", deepPage},
	{"wallet history: at most 2 times the time of direct calls", times("history", compare.Direct, meanTime, 2)},
	{"wallet history: at most 2 times the PostgreSQL time of direct calls", times("history", compare.Direct, postgresTime, 2)},
	{"rare search: at most 1.7 times the time of direct calls", times("search", compare.Direct, meanTime, 1.7)},
	{"search for the worst text among 50,000 tasks of 4 KB: p99 under 150 ms", worstText},
	{"p99 of `GET /bots/me` while 64 searches without a token run: within 3 times the quiet one", isolated},
	{"response → event, median at 50 a second: under 0.6 ms", delivered(50, 600)},
	{"response → event, median at 500 a second: under 0.6 ms", delivered(500, 600)},
	{"an idle socket: at most 12 KB", idleSocket},
	{"a poll that waits: at most the memory of an idle socket", waitingPoll},
	{"1,000 sockets that acknowledge nothing: under 2 % of a core", silentSockets},
	{"the server at rest: at most 48 MB of anonymous memory", atRest},
	{"reconciling 5 million ledger entries: within 30 s, no slice over 1 s", reconciled},
}

// throughput compares with another variant at some numbers of connections, by default at all.
func throughput(scenario, variant string, least float64, at ...int) func(*Data) []value {
	return func(d *Data) []value {
		return comparison(d, scenario, variant, perSecond, at, func(ratio float64) bool { return ratio >= least })
	}
}

// times compares a time with that of another variant, likewise.
func times(scenario, variant string, f figure, most float64, at ...int) func(*Data) []value {
	return func(d *Data) []value {
		return comparison(d, scenario, variant, f, at, func(ratio float64) bool { return ratio <= most })
	}
}

func comparison(d *Data, scenario, variant string, f figure, at []int, met func(float64) bool) []value {
	var values []value
	for _, n := range connectionsOf(d.Results, scenario) {
		if len(at) > 0 && !slices.Contains(at, n) {
			continue
		}
		if s := relative(d.Results, scenario, variant, n, f); s.Rounds > 0 {
			values = append(values, value{n, number(s), met(s.Median)})
		}
	}
	return values
}

// deepPage compares times at one connection, where nothing waits.
func deepPage(d *Data) []value {
	const allowed = 5
	deep := spread(d.Results, scenarios.Deep, compare.Server, 1, p50)
	first := spread(d.Results, "feed", compare.Server, 1, p50)
	scan := spread(d.Results, scenarios.Scan, compare.Direct, 1, p50)
	if deep.Rounds == 0 || first.Rounds == 0 || scan.Rounds == 0 {
		return nil
	}
	limit := allowed*first.Median + scan.Median
	text := fmt.Sprintf("%s; allowed: 5 × %s + %s = %s", duration(deep),
		singleDuration(first.Median), singleDuration(scan.Median), singleDuration(limit))
	return []value{{0, text, deep.Median <= limit}}
}

func worstText(d *Data) []value {
	if len(d.Searches) == 0 {
		return nil
	}
	worst := d.slowestSearches()[0]
	text := fmt.Sprintf("%s for `%s`", singleDuration(micros(worst.P99())), worst.Text)
	if d.Tasks < 50_000 {
		text += fmt.Sprintf(", among %s tasks", count(d.Tasks))
	}
	return []value{{0, text, worst.P99() < 150*time.Millisecond}}
}

func isolated(d *Data) []value {
	var values []value
	for _, m := range d.Isolation {
		s := NewSpread(ratios(microseconds(m.Busy), microseconds(m.Quiet)))
		values = append(values, value{m.Connections, number(s), s.Median <= 3})
	}
	return values
}

// median is the spread of the medians of rounds.
func median(d ws.Delivery) Spread { return quantile(d.Rounds, 0.5) }

func delivered(rate int, below float64) func(*Data) []value {
	return func(d *Data) []value {
		for _, m := range d.Deliveries {
			if m.PerSecond == rate {
				return []value{{0, duration(median(m)), median(m).Median < below}}
			}
		}
		return nil
	}
}

func idleSocket(d *Data) []value {
	if d.Idle.Connections == 0 {
		return nil
	}
	s := NewSpread(d.Idle.Each)
	return []value{{0, number(s.scaled(1000)) + " KB", s.Median <= 12_000}}
}

func waitingPoll(d *Data) []value {
	if d.Idle.Connections == 0 || d.Polls.Connections == 0 {
		return nil
	}
	poll, socket := NewSpread(d.Polls.Each), NewSpread(d.Idle.Each)
	return []value{{0, number(poll.scaled(1000)) + " KB, a socket " + number(socket.scaled(1000)) + " KB", poll.Median <= socket.Median}}
}

func silentSockets(d *Data) []value {
	if d.Silent.Sockets == 0 {
		return nil
	}
	s := d.silentShare()
	return []value{{0, number(s) + " %", s.Median < 2}}
}

func atRest(d *Data) []value {
	if len(d.AtRest) == 0 {
		return nil
	}
	s := NewSpread(anonymous(d.AtRest))
	return []value{{0, number(s) + " MB", s.Median <= 48}}
}

func reconciled(d *Data) []value {
	if len(d.Ledger.Slices) == 0 {
		return nil
	}
	took, slowest := d.Ledger.Took(), slices.Max(d.Ledger.Slices)
	text := fmt.Sprintf("%s entries in %s, the slowest slice in %s", count(d.Ledger.Entries),
		singleDuration(micros(took)), singleDuration(micros(slowest)))
	return []value{{0, text, took <= 30*time.Second && slowest <= time.Second}}
}

// reached says whether all values meet the target, and if only some do, which.
func reached(values []value) string {
	var met []string
	for _, v := range values {
		if v.met {
			met = append(met, strconv.Itoa(v.connections))
		}
	}
	switch {
	case len(values) == 0:
		return "not measured"
	case len(met) == len(values):
		return "yes"
	case len(met) == 0:
		return "**no**"
	default:
		return "**only at " + strings.Join(met, " and ") + " connections**"
	}
}

// joined writes the values in one cell.
func joined(values []value) string {
	texts := make([]string, len(values))
	connections := make([]string, len(values))
	for i, v := range values {
		texts[i], connections[i] = v.text, strconv.Itoa(v.connections)
	}
	text := strings.Join(texts, " / ")
	if len(values) > 0 && values[0].connections > 0 {
		text += " at " + strings.Join(connections, " / ") + " connections"
	}
	return text
}
