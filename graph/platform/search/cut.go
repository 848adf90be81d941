package search

import (
	"fmt"
	"strconv"
	"strings"

	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/page"
)

// Bounds on the rows that a walk examines. A row of 4 KB takes about 10 µs.
const (
	// ProbeRows are looked at first. A text that none of them holds is too rare to be found by walking.
	ProbeRows = 64
	// WalkRows is the bound for a page at the top of a list, and WalkRowsDeep for one far down. In between, it grows by two for each
	// row up to the end of the page.
	WalkRows     = 1_000
	WalkRowsDeep = 20_000
)

// Cut is how a statement cuts a page out of a list, in SQL.
type Cut struct{ Offset, Limit string }

// In fills in what a statement takes from the cut: its offset and limit, the number of rows needed to the end of the page, and the
// bounds on the rows examined.
func (c Cut) In(statement string) string {
	needed := `(` + c.Offset + `::integer + ` + c.Limit + `::integer)`
	return strings.NewReplacer(
		"[offset]", c.Offset, "[limit]", c.Limit, "[needed]", needed, "[probe rows]", strconv.Itoa(ProbeRows),
		"[walk rows]", fmt.Sprintf("least(%d + 2 * %s, %d)", WalkRows, needed, WalkRowsDeep),
	).Replace(statement)
}

// Pages are the statements of a search: one for the page that most ask for, whose bounds stand in its text, so that a plan is made once
// for all texts; and one for every other page, planned for its bounds.
type Pages struct{ top, other string }

// NewPages makes both; the parameters that cut the page are number and the one after it.
func NewPages(statement func(Cut) string, number int) Pages {
	return Pages{
		top:   statement(Cut{"0", strconv.Itoa(page.DefaultSize + 1)}),
		other: prepared.PlanPerValue + statement(Cut{"$" + strconv.Itoa(number), "$" + strconv.Itoa(number+1)}),
	}
}

// Of is the statement of a page, with the arguments that cut it.
func (p Pages) Of(n page.Number) (query string, cut []any) {
	if n.Offset() == 0 && n.Limit() == page.DefaultSize+1 {
		return p.top, nil
	}
	return p.other, []any{n.Offset(), n.Limit()}
}
