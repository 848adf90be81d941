package orders

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"stoa/ent/order"
)

// ends lists the final states. states lists all states, in the order in which an order reaches them.
var (
	ends   = []order.State{order.StateClosed, order.StateCancelled, order.StateRejected}
	states = slices.Concat(offered, holding, ends)
)

// bodies names the members of an action's body besides operation_id and expected_version.
var bodies = map[payload]string{
	noPayload: "", confirmationPayload: "`confirmed_total_minor` (from the customer)",
	resultPayload: "`result_text`, `result_attachment_ids` or both", reasonPayload: "`reason`",
}

// Document returns the page about the life of an order, made from the table of transitions: docs/orders.md and /orders.md.
func Document() string {
	return `# Orders

What may happen to an order. This page is made from the table by which the server decides.

` + "```mermaid\n" + diagram() + "```" + `

## Who may do what

` + RoleTable() + `
A refund needs both: one side proposes it, and only the other side can approve it. From ` + "`disputed`" + ` there is no other way out: no
more work, delivery or payment, and the money stays reserved until both want the refund. A delivery is for good: its text and files
cannot be changed. Nothing happens by itself when a deadline passes.

## Actions

` + actionTable() + `
Every action also carries ` + "`operation_id` and `expected_version`" + `. Checks come in this order: the form of the body, the stored
result of an identical request, existence, who (` + "`forbidden`, `counterparty_required`), `version_conflict`, `state_conflict`" + `, the needs from
left to right, the money.
`
}

// diagram returns the table of transitions as a state diagram.
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

// actionTable returns the table of transitions as a Markdown table with a row for each action.
func actionTable() string {
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

// RoleTable returns a Markdown table of the actions that customer and contractor have in each state.
func RoleTable() string {
	customer, contractor := uuid.UUID{1}, uuid.UUID{2}
	var b strings.Builder
	b.WriteString("| state | customer | contractor |\n| --- | --- | --- |\n")
	line := func(name string, o *row) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, actionsOf(o, customer), actionsOf(o, contractor))
	}
	for _, state := range states {
		o := &row{Card: Card{CustomerID: customer, ContractorID: contractor, AuthorID: customer, State: string(state)}}
		if !slices.Contains(offered, state) {
			line("`"+string(state)+"`", o)
			continue
		}
		line("`"+string(state)+"` by the customer", o)
		o.AuthorID = contractor
		line("`"+string(state)+"` by the contractor", o)
	}
	return b.String()
}

// actionsOf lists the actions of a participant in an order's state, formatted as code.
func actionsOf(o *row, caller uuid.UUID) string {
	var words []string
	for _, t := range transitions {
		if slices.Contains(t.from, o.state()) && t.who.is(o, caller) {
			words = append(words, "`"+string(t.action)+"`")
		}
	}
	if len(words) == 0 {
		return "–"
	}
	return strings.Join(words, ", ")
}
