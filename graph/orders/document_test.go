package orders

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/ent/order"
)

var rewrite = flag.Bool("write", false, "write docs/orders.md anew instead of comparing it")

const document = "../../docs/orders.md"

// The document agrees with the table.
func TestDocumentMatchesTable(t *testing.T) {
	t.Parallel()
	if *rewrite {
		require.NoError(t, os.WriteFile(document, []byte(Document()), 0o644))
	}
	got, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, Document(), string(got), "run: go test ./graph/orders -run Document -write")
}

// A list of all orders merges the orders of every state.
func TestListNamesEveryState(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(named("list_orders").Text, "'{")
	named, _, _ := strings.Cut(rest, "}'")
	var all []string
	for _, state := range states {
		all = append(all, string(state))
	}
	require.ElementsMatch(t, all, strings.Split(named, ","))
}

// The table of roles lists an action in a state exactly if the table of transitions permits it.
func TestRoleTableIsTheStateTable(t *testing.T) {
	t.Parallel()
	rows := strings.Split(strings.TrimSpace(RoleTable()), "\n")
	require.Len(t, rows, 2+1+len(states), "a head, a row a state, and one more for the two authors of an offer")
	found := map[order.State]string{}
	for _, line := range rows[2:] {
		state, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		found[order.State(state)] += line
	}
	for _, r := range transitions {
		for state, line := range found {
			require.Equal(t, slices.Contains(r.from, state), strings.Contains(line, "`"+string(r.action)+"`"), "%s in %s", r.action, state)
		}
	}
	require.Contains(t, rows, "| `funded` | `dispute`, `propose-refund` | `start`, `dispute`, `propose-refund` |")
	require.Contains(t, rows, "| `offered` by the contractor | `accept`, `reject` | `cancel` |")
}

// The properties of the table that the rest of the package relies on.
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
