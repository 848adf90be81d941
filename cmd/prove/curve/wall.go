package curve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// From these shares on something counts as used up.
const (
	// busyShare is a share of the machine's cores, boundShare one of the servers' bound. Neither is ever used wholly.
	busyShare  = 0.85
	boundShare = 0.85
	// waitShare is of the time of the database's working processes, poolShare of the servers' connections to the database.
	waitShare = 0.5
	poolShare = 0.9
)

// wall is something that can limit the service, and the rule by which it does.
type wall struct {
	name string
	is   func(p Point, cores int) bool
	why  func(p Point) string
}

// walls in the order in which they are looked at.
var walls = []wall{
	{"the processor", func(p Point, cores int) bool { return p.Busy >= busyShare*float64(cores) }, shares},
	{
		"the servers' share of the processor",
		func(p Point, _ int) bool { return p.ServerCores > 0 && p.Cores[servers] >= boundShare*p.bound() },
		func(p Point) string {
			return fmt.Sprintf("they used %.2f of their %.2f cores", p.Cores[servers], p.bound())
		},
	},
	{
		"what the database waits for",
		func(p Point, _ int) bool { return p.waited() >= waitShare },
		func(p Point) string { return "its working processes waited " + p.Waited() },
	},
	{
		"the servers' connections to the database",
		func(p Point, _ int) bool { return p.Pooled > 0 && p.InUse >= poolShare*p.Pooled },
		func(p Point) string { return fmt.Sprintf("%.0f of %.0f were in use", p.InUse, p.Pooled) },
	},
	{
		"the number of connections",
		func(Point, int) bool { return true },
		func(Point) string { return "nothing else is used up" },
	},
}

// Wall names what limits the service at a point on a machine with that number of cores, and the figures that show it.
func Wall(p Point, cores int) (name, why string) {
	found := walls[slices.IndexFunc(walls, func(w wall) bool { return w.is(p, cores) })]
	return found.name, found.why(p)
}

func (p Point) bound() float64 { return p.ServerCores * float64(p.Processes) }

// shares lists each part's use of the processor.
func shares(p Point) string {
	var text []string
	rest := 1.0
	for _, part := range parts {
		share := p.Cores[part] / p.Busy
		rest -= share
		text = append(text, fmt.Sprintf("the %s used %.0f %%", part, 100*share))
	}
	return fmt.Sprintf("of it %s, and all else %.0f %%", strings.Join(text, ", "), 100*max(rest, 0))
}

// alone reports whether the machine did little besides what is measured.
func (p Point) alone() bool {
	used := 0.0
	for _, part := range parts {
		used += p.Cores[part]
	}
	return used >= busyShare*p.Busy
}

// waited is the share of time that the database's working processes waited for anything.
func (p Point) waited() (share float64) {
	for _, one := range p.Waits {
		share += one
	}
	return share
}

// mostWaits is how many waits are reported of a point.
const mostWaits = 3

// Waited lists what the database's working processes waited for most, with the share of their time.
func (p Point) Waited() string {
	var text []string
	for _, wait := range slices.SortedFunc(maps.Keys(p.Waits), func(a, b string) int { return cmp.Compare(p.Waits[b], p.Waits[a]) }) {
		if share := 100 * p.Waits[wait]; len(text) < mostWaits && share >= 1 {
			text = append(text, fmt.Sprintf("%s %.0f %%", wait, share))
		}
	}
	if len(text) == 0 {
		return "for nothing"
	}
	return strings.Join(text, ", ")
}
