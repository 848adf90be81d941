package report

import (
	"fmt"
	"strconv"
	"strings"

	"stoa/cmd/bench/compare"
)

// table writes a table of Markdown.
func table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	rules := make([]string, len(header))
	for i := range rules {
		rules[i] = "---"
	}
	line(rules)
	for _, row := range rows {
		line(row)
	}
	return strings.TrimRight(b.String(), "\n")
}

// Targets is the table of what should be reached.
func (d *Data) Targets() string {
	var rows [][]string
	for _, t := range targets {
		values := t.values(d)
		rows = append(rows, []string{t.what, reached(values), verdict(values)})
	}
	return table([]string{"target", "measured", "reached"}, rows)
}

// Throughput is the table of the contest.
func (d *Data) Throughput() string {
	var rows [][]string
	for _, p := range measured(d.Results) {
		for _, n := range connectionsOf(d.Results, p.Name) {
			rate := func(contestant string) string {
				s := of(d.Results, p.Name, contestant, n, perSecond)
				if s.Rounds == 0 {
					return "–"
				}
				return count(s.Median)
			}
			if p.HTTP == nil {
				continue
			}
			rows = append(rows, []string{
				p.What, strconv.Itoa(n), rate(compare.Server), rate(compare.Minimal), rate(compare.SQL),
				ratio(against(d.Results, p.Name, compare.Minimal, n)), ratio(against(d.Results, p.Name, compare.SQL, n)),
				d.time(p.Name, compare.Server, n, median), d.time(p.Name, compare.Server, n, slow),
			})
		}
	}
	return table([]string{"path", "connections", "server /s", "minimal /s", "SQL /s", "of minimal", "of SQL", "p50", "p99"}, rows)
}

// Cost is the table of what one operation takes from processor and memory.
func (d *Data) Cost() string {
	var rows [][]string
	for _, p := range measured(d.Results) {
		for _, n := range connectionsOf(d.Results, p.Name) {
			if p.HTTP == nil {
				continue
			}
			row := []string{p.What, strconv.Itoa(n)}
			for _, contestant := range []string{compare.Server, compare.Minimal} {
				row = append(row, d.time(p.Name, contestant, n, process), d.time(p.Name, contestant, n, postgres))
			}
			row = append(row, d.time(p.Name, compare.SQL, n, postgres))
			for _, contestant := range []string{compare.Server, compare.Minimal} {
				row = append(row, fmt.Sprintf("%s, %s KiB", count(of(d.Results, p.Name, contestant, n, objects).Median),
					digits(of(d.Results, p.Name, contestant, n, kibibytes).Median)))
			}
			rows = append(rows, row)
		}
	}
	return table([]string{
		"path", "connections", "server", "its PostgreSQL", "minimal", "its PostgreSQL", "SQL's PostgreSQL", "server allocates", "minimal allocates",
	}, rows)
}

// time is the median of a figure in microseconds, or a dash.
func (d *Data) time(path, contestant string, connections int, f figure) string {
	s := of(d.Results, path, contestant, connections, f)
	if s.Rounds == 0 {
		return "–"
	}
	return duration(s.Median)
}

// Events is the table of how soon events arrive.
func (d *Data) Events() string {
	var rows [][]string
	for _, m := range d.Deliveries {
		rows = append(rows, []string{
			strconv.Itoa(m.PerSecond), count(float64(m.Ops())), duration(micros(m.Quantile(half))), duration(micros(m.Quantile(most))),
		})
	}
	return table([]string{"messages a second", "measured", "p50", "p99"}, rows)
}

// Memory is the table of what the server holds.
func (d *Data) Memory() string {
	rows := [][]string{}
	for _, m := range []struct {
		what             string
		resident, shared int64
	}{
		{"at rest, right after the start", d.Rest.Resident, d.Rest.Proportional},
		{fmt.Sprintf("with %s idle sockets more than 500", count(float64(d.Idle.Sockets))), d.Idle.After.Resident, d.Idle.After.Proportional},
		{"after all the load of this run", d.AfterLoad.Resident, d.AfterLoad.Proportional},
	} {
		if m.resident > 0 {
			rows = append(rows, []string{m.what, megabytes(m.resident), megabytes(m.shared)})
		}
	}
	return table([]string{"", "resident (RSS)", "proportional (PSS)"}, rows)
}

// Grown is the table of how the server's figures change with the number of agents.
func (d *Data) Grown() string {
	header := []string{"path", "figure"}
	for _, size := range d.Growth {
		header = append(header, fmt.Sprintf("%s agents, %s posts", count(float64(size.Agents)), count(float64(size.Posts))))
	}
	var rows [][]string
	for _, p := range measured(d.allGrown()) {
		for _, f := range []struct {
			name string
			figure
			write func(float64) string
		}{{"a second", perSecond, count}, {"p50", median, duration}, {"PostgreSQL", postgres, duration}} {
			row := []string{p.What, f.name}
			for _, size := range d.Growth {
				cell := "–"
				if s := of(size.Results, p.Name, compare.Server, d.GrownConnections, f.figure); s.Rounds > 0 {
					cell = f.write(s.Median)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	return table(header, rows)
}

func (d *Data) allGrown() []compare.Result {
	var all []compare.Result
	for _, size := range d.Growth {
		all = append(all, size.Results...)
	}
	return all
}
