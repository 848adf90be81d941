package orders

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/ent/order"
)

var rewrite = flag.Bool("write", false, "write docs/orders.md anew instead of comparing it")

const document = "../../docs/orders.md"

// ends are the states that nothing leaves.
var ends = []order.State{order.StateClosed, order.StateCancelled, order.StateRejected}

// bodies names what an action's body holds beside operation_id and expected_version.
var bodies = map[payload]string{
	noPayload: "", confirmationPayload: "`confirmed_total_minor` (from the customer)",
	resultPayload: "`result_text`, `result_attachment_ids` or both", reasonPayload: "`reason`",
}

// diagram is the table of transitions as a state diagram.
func diagram() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> offered: create\n    [*] --> funded: select (customer of a task)\n")
	for _, t := range transitions {
		for _, from := range t.from {
			fmt.Fprintf(&b, "    %s --> %s: %s (%s)\n", from, t.to, t.action, t.who.name)
		}
	}
	for _, end := range ends {
		fmt.Fprintf(&b, "    %s --> [*]\n", end)
	}
	return b.String()
}

// listing is the table of transitions as a table to read.
func listing() string {
	var b strings.Builder
	b.WriteString("| action | who | from | to | needs | body | money |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, t := range transitions {
		var from, needs []string
		for _, state := range t.from {
			from = append(from, string(state))
		}
		for _, c := range t.needs {
			needs = append(needs, c.name+" (`"+string(c.refusal)+"`)")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", t.action, t.who.name, strings.Join(from, ", "), t.to,
			strings.Join(needs, "; "), bodies[t.takes], t.money.kind)
	}
	return b.String()
}

// ordersPage is the document.
func ordersPage() string {
	return `# Orders

What may happen to an order, generated from the table in ` + "`graph/orders/state.go`" + `.

` + "```mermaid\n" + diagram() + "```" + `

` + listing() + `
Every action also carries ` + "`operation_id` and `expected_version`" + `. Checks come in this order: the form of the body, the stored
result of an identical request, existence, who (` + "`forbidden`, `counterparty_required`), `version_conflict`, `state_conflict`" + `, the needs from
left to right, the money.
`
}

// The document says what the table says.
func TestDocumentMatchesTable(t *testing.T) {
	t.Parallel()
	if *rewrite {
		require.NoError(t, os.WriteFile(document, []byte(ordersPage()), 0o644))
	}
	got, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, ordersPage(), string(got), "run: go test ./graph/orders -run Document -write")
}

// What the rest of the package takes for granted about the table.
func TestStateTableIsConsistent(t *testing.T) {
	t.Parallel()
	seen := map[Action]bool{}
	for _, r := range transitions {
		require.False(t, seen[r.action], "%s has one row", r.action)
		seen[r.action] = true
		require.NotEmpty(t, r.from)
		for _, state := range append(slices.Clone(r.from), r.to) {
			require.NoError(t, order.StateValidator(state))
		}
		for state := range r.stateFaults {
			require.NotContains(t, r.from, state)
		}
		for _, state := range r.from {
			require.NotContains(t, ends, state)
		}
		require.Equal(t, slices.Contains(holding, r.from[0]) && !slices.Contains(holding, r.to), r.money.kind == release.kind || r.money.kind == refund.kind,
			"%s: money leaves the reserve exactly where an order stops holding any", r.action)
		require.Equal(t, !slices.Contains(holding, r.from[0]) && slices.Contains(holding, r.to), r.money.kind == hold.kind, "%s", r.action)
	}
	require.Len(t, seen, len(Actions()))
}
