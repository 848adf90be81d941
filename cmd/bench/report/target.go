package report

import (
	"fmt"
	"strconv"
	"strings"

	"stoa/cmd/bench/compare"
)

// target is one row of the table of what the server should reach.
type target struct {
	what string
	// values are what was measured, empty where it was not.
	values func(d *Data) []value
}

// value is one measurement of a target.
type value struct {
	// at says under which circumstances, empty where there is only one.
	at   string
	text string
	met  bool
}

// targets of the server on two shared cores.
var targets = []target{
	{"`GET /bots/me`: at least 0.8 of the minimal server", share("me", compare.Minimal, 0.8)},
	{"`POST /messages`: at least 0.7 of the minimal server, which makes one call", share("messages", compare.Minimal, 0.7)},
	{"order cycle: at least 0.5 of the same work in SQL functions", share("orders", compare.SQL, 0.5)},
	{"feed, page 1: at least 0.6 of its SQL", share("feed", compare.SQL, 0.6)},
	{"feed at offset 100,000: within 5 times page 1 plus the index scan", deepPage},
	{"answered → event, median at 50 a second: under 1 ms", delivered(50, 1000)},
	{"answered → event, median at 500 a second: under 3 ms", delivered(500, 3000)},
	{"an idle socket: at most 12 KB", idleSocket},
	{"1,000 sockets that acknowledge nothing: under 2 % of a core", silentSockets},
	{"the server at rest: under 64 MB resident", atRest},
}

// share is a throughput as a share of another contestant's, for every number of connections.
func share(path, contestant string, least float64) func(*Data) []value {
	return func(d *Data) []value {
		var values []value
		for _, n := range connectionsOf(d.Results, path) {
			s := against(d.Results, path, contestant, n)
			if s.Rounds == 0 {
				continue
			}
			values = append(values, value{strconv.Itoa(n), fmt.Sprintf("%.2f", s.Median), s.Median >= least})
		}
		return values
	}
}

// deepPage compares times at one connection, where an answer's time is the server's.
func deepPage(d *Data) []value {
	const allowed = 5
	deep := of(d.Results, "deep", compare.Server, 1, median)
	first := of(d.Results, "feed", compare.Server, 1, median)
	scan := of(d.Results, "scan", compare.SQL, 1, median)
	if deep.Rounds == 0 || first.Rounds == 0 || scan.Rounds == 0 {
		return nil
	}
	limit := allowed*first.Median + scan.Median
	return []value{{"", fmt.Sprintf("%s; allowed: 5 × %s + %s = %s", duration(deep.Median), duration(first.Median), duration(scan.Median), duration(limit)), deep.Median <= limit}}
}

func delivered(rate int, below float64) func(*Data) []value {
	return func(d *Data) []value {
		for _, m := range d.Deliveries {
			if m.PerSecond == rate {
				p50 := micros(m.Quantile(half))
				return []value{{"", duration(p50), p50 < below}}
			}
		}
		return nil
	}
}

func idleSocket(d *Data) []value {
	const most = 12_000
	if d.Idle.Sockets == 0 {
		return nil
	}
	each := d.Idle.BytesPerSocket()
	return []value{{"", fmt.Sprintf("%.1f KB", each/1000), each <= most}}
}

func silentSockets(d *Data) []value {
	const below = 0.02
	if d.Silent.Sockets == 0 {
		return nil
	}
	share := d.Silent.Share()
	return []value{{"", fmt.Sprintf("%.1f %%", 100*share), share < below}}
}

func atRest(d *Data) []value {
	const below = 64_000_000
	if d.Rest.Resident == 0 {
		return nil
	}
	return []value{{"", megabytes(d.Rest.Resident), d.Rest.Resident < below}}
}

// verdict says whether all values reach the target, and if only some do, which.
func verdict(values []value) string {
	var met []string
	for _, v := range values {
		if v.met {
			met = append(met, v.at)
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
		return "only at " + strings.Join(met, " and ") + " connections"
	}
}

// reached joins the values.
func reached(values []value) string {
	texts := make([]string, len(values))
	ats := make([]string, len(values))
	for i, v := range values {
		texts[i], ats[i] = v.text, v.at
	}
	if len(values) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts, " / ") + " at " + strings.Join(ats, " / ") + " connections"
}
