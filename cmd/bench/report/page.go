package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/search"
)

//go:embed page.md.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"count": count}).Parse(pageText))

// Page writes docs/benchmarks.md.
func (d *Data) Page(to io.Writer) error { return page.Execute(to, d) }

// table writes a table of Markdown.
func table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	line(slices.Repeat([]string{"---"}, len(header)))
	for _, row := range rows {
		line(row)
	}
	return strings.TrimRight(b.String(), "\n")
}

// Targets is the table of targets.
func (d *Data) Targets() string {
	var rows [][]string
	for _, t := range targets {
		values := t.values(d)
		rows = append(rows, []string{t.what, joined(values), reached(values)})
	}
	return table([]string{"target", "measured", "reached"}, rows)
}

// minOps is the number of operations in a round from which its 99th percentile is more than its slowest operation.
const minOps = 100

// Throughput is the table of throughput and latency.
func (d *Data) Throughput() string {
	var rows [][]string
	for _, s := range measured(d.Results) {
		for _, n := range connectionsOf(d.Results, s.Name) {
			cell := func(variant string, f figure) Spread { return spread(d.Results, s.Name, variant, n, f) }
			tail := "–"
			if cell(compare.Server, ops).Median >= minOps {
				tail = duration(cell(compare.Server, p99))
			}
			rows = append(rows, []string{
				s.Title, strconv.Itoa(n),
				number(cell(compare.Server, perSecond)), number(cell(compare.Minimal, perSecond)), number(cell(compare.Direct, perSecond)),
				number(relative(d.Results, s.Name, compare.Minimal, n, perSecond)),
				number(relative(d.Results, s.Name, compare.Direct, n, perSecond)), ofPlain(d, s, n),
				duration(cell(compare.Server, p50)), tail,
			})
		}
	}
	return table([]string{
		"scenario", "connections", "server /s", "minimal /s", "direct /s", "of minimal", "of direct", "of plain", "p50", "p99",
	}, rows)
}

// ofPlain is the throughput beside the minimal server on plain tables.
func ofPlain(d *Data, s scenarios.Scenario, connections int) string {
	if !s.Writes {
		return "–"
	}
	return number(relative(d.Results, s.Name, compare.Plain, connections, perSecond))
}

// Cost is the table of processor time and allocations.
func (d *Data) Cost() string {
	var rows [][]string
	for _, s := range measured(d.Results) {
		for _, n := range connectionsOf(d.Results, s.Name) {
			row := []string{s.Title, strconv.Itoa(n)}
			for _, c := range []struct {
				variant string
				figure
			}{
				{compare.Server, processTime}, {compare.Minimal, processTime},
				{compare.Server, postgresTime}, {compare.Minimal, postgresTime}, {compare.Direct, postgresTime},
				{compare.Plain, postgresTime},
			} {
				if c.variant == compare.Plain && !s.Writes {
					row = append(row, "–")
					continue
				}
				row = append(row, duration(spread(d.Results, s.Name, c.variant, n, c.figure)))
			}
			for _, variant := range []string{compare.Server, compare.Minimal} {
				if spread(d.Results, s.Name, variant, n, objects).Rounds == 0 {
					row = append(row, "–")
					continue
				}
				row = append(row, fmt.Sprintf("%.0f, %s KiB", spread(d.Results, s.Name, variant, n, objects).Median,
					single(spread(d.Results, s.Name, variant, n, kibibytes).Median)))
			}
			rows = append(rows, row)
		}
	}
	return table([]string{
		"scenario", "connections", "server", "minimal", "server's PostgreSQL", "minimal's PostgreSQL", "direct's PostgreSQL", "plain's PostgreSQL",
		"server allocates", "minimal allocates",
	}, rows)
}

// quantile is the spread of a quantile of latencies over rounds, in microseconds.
func quantile(rounds [][]time.Duration, q float64) Spread {
	quantiles := make([]time.Duration, len(rounds))
	for i, latencies := range rounds {
		quantiles[i] = load.Quantile(latencies, q)
	}
	return NewSpread(microseconds(quantiles))
}

// Events is the table of deliveries.
func (d *Data) Events() string {
	var rows [][]string
	for _, m := range d.Deliveries {
		all := slices.Concat(m.Rounds...)
		slices.Sort(all)
		rows = append(rows, []string{
			strconv.Itoa(m.PerSecond), count(len(all)), duration(median(m)), singleDuration(micros(load.Quantile(all, 0.99))),
		})
	}
	return table([]string{"messages a second", "measured", "p50", "p99 of all"}, rows)
}

// slowestSearches are the searches, those with the longest 99th percentile first.
func (d *Data) slowestSearches() []search.Text {
	return slices.SortedStableFunc(slices.Values(d.Searches), func(a, b search.Text) int { return int(b.P99() - a.P99()) })
}

// SearchTexts is the table of searches.
func (d *Data) SearchTexts() string {
	var rows [][]string
	for _, s := range d.slowestSearches() {
		rows = append(rows, []string{"`" + s.Text + "`", duration(quantile(s.Rounds, 0.5)), singleDuration(micros(s.P99()))})
	}
	return table([]string{"text", "p50", "p99 of all"}, rows)
}

// Isolated is the table of GET /bots/me beside searches.
func (d *Data) Isolated() string {
	var rows [][]string
	for _, m := range d.Isolation {
		rows = append(rows, []string{
			strconv.Itoa(m.Connections), duration(NewSpread(microseconds(m.Quiet))), duration(NewSpread(microseconds(m.Busy))),
			number(NewSpread(ratios(microseconds(m.Busy), microseconds(m.Quiet)))), number(NewSpread(m.PerSecond)),
		})
	}
	return table([]string{"connections", "quiet p99", "p99 while searches run", "ratio", "searches a second"}, rows)
}

// anonymous lists readings in MB.
func anonymous(readings []machine.Memory) []float64 {
	values := make([]float64, len(readings))
	for i, m := range readings {
		values[i] = float64(m.Anonymous) / 1e6
	}
	return values
}

// Memory is the table of the server's memory.
func (d *Data) Memory() string {
	rows := [][]string{}
	if len(d.AtRest) > 0 {
		rows = append(rows, []string{
			"at rest, after the start", number(NewSpread(anonymous(d.AtRest))) + " MB", megabytes(d.AtRest[0].Resident),
		})
	}
	for _, m := range []struct {
		what string
		machine.Memory
	}{
		{fmt.Sprintf("with %s idle sockets more than 500", count(d.Idle.Connections)), d.Idle.After},
		{fmt.Sprintf("with %s waiting polls more than 500", count(d.Polls.Connections)), d.Polls.After},
		{"after all comparisons of this run", d.AfterLoad},
	} {
		if m.Resident > 0 {
			rows = append(rows, []string{m.what, megabytes(m.Anonymous), megabytes(m.Resident)})
		}
	}
	return table([]string{"", "anonymous", "resident"}, rows)
}

// PerSocket is the memory of an idle socket in KB, PerPoll that of a poll that waits.
func (d *Data) PerSocket() string { return number(NewSpread(d.Idle.Each).scaled(1000)) }

// PerPoll is described at PerSocket.
func (d *Data) PerPoll() string { return number(NewSpread(d.Polls.Each).scaled(1000)) }

// silentShare returns the share of silent sockets, in percent of a core.
func (d *Data) silentShare() Spread { return d.share(d.Silent.Full, d.Silent.None) }

// share is the difference of two processor times in each round, in percent of a core.
func (d *Data) share(more, less []time.Duration) Spread {
	percents := make([]float64, min(len(more), len(less)))
	for i := range percents {
		percents[i] = 100 * float64(more[i]-less[i]) / float64(d.Silent.Length)
	}
	return NewSpread(percents)
}

// SilentShare returns the share of silent sockets, IdleShare that of as many sockets without events, in percent of a core.
func (d *Data) SilentShare() string { return number(d.silentShare()) }

// IdleShare is described at SilentShare.
func (d *Data) IdleShare() string { return number(d.share(d.Silent.Idle, d.Silent.None)) }

// LedgerSummary describes the reconciliation.
func (d *Data) LedgerSummary() string {
	all := d.Ledger.Slices
	return fmt.Sprintf("%s entries in %d slices took %s, a slice %s and the slowest one %s.", count(d.Ledger.Entries), len(all),
		singleDuration(micros(d.Ledger.Took())), duration(NewSpread(microseconds(all))), singleDuration(micros(slices.Max(all))))
}

// Grown is the table of how the server's figures change with the size of the database.
func (d *Data) Grown() string {
	header := []string{"scenario", "figure"}
	var all []compare.Result
	for _, size := range d.Growth {
		header = append(header, fmt.Sprintf("%s agents, %s posts", count(size.Agents), count(size.Posts)))
		all = append(all, size.Results...)
	}
	var rows [][]string
	for _, s := range measured(all) {
		for _, f := range []struct {
			name string
			figure
			write func(Spread) string
		}{{"a second", perSecond, number}, {"p50", p50, duration}, {"PostgreSQL time", postgresTime, duration}} {
			row := []string{s.Title, f.name}
			for _, size := range d.Growth {
				row = append(row, f.write(spread(size.Results, s.Name, compare.Server, d.GrowthConnections, f.figure)))
			}
			rows = append(rows, row)
		}
	}
	return table(header, rows)
}

// growthFactor is the factor of PostgreSQL's time from the smallest to the largest size from which a scenario is named.
const growthFactor = 1.5

// Growing names the scenarios whose PostgreSQL time grows.
func (d *Data) Growing() string {
	if len(d.Growth) < 2 {
		return ""
	}
	small, large := d.Growth[0], d.Growth[len(d.Growth)-1]
	var named []string
	for _, s := range measured(small.Results) {
		before := spread(small.Results, s.Name, compare.Server, d.GrowthConnections, postgresTime)
		after := spread(large.Results, s.Name, compare.Server, d.GrowthConnections, postgresTime)
		if before.Median > 0 && after.Median > growthFactor*before.Median {
			named = append(named, fmt.Sprintf("%s by %.1f", s.Title, after.Median/before.Median))
		}
	}
	if len(named) == 0 {
		const none = "No scenario's time in PostgreSQL grows by more than %.1f times from the first size to the last."
		return fmt.Sprintf(none, growthFactor)
	}
	return fmt.Sprintf("Time in PostgreSQL grows from the first size to the last: %s times; all else by less than %.1f times.",
		strings.Join(named, ", "), growthFactor)
}
