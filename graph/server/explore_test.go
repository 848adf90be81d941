package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/graph/platform/fault"
)

// nodes are the rows of a connection.
func nodes(connection map[string]any) []map[string]any {
	var all []map[string]any
	for _, edge := range connection["edges"].([]any) {
		all = append(all, edge.(map[string]any)["node"].(map[string]any))
	}
	return all
}

// A page has 20 rows if its size is not sent, and 100 at most. TestPaging of the console turns pages.
func TestPagesOfConnections(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 25 {
		s.Agent()
	}
	first := s.ask(operatorToken, `{ bots { totalCount pageInfo { hasNextPage } edges { node { createdAt } } } }`, nil).ok("bots")
	require.InDelta(t, 25, first["totalCount"], 0)
	require.Len(t, nodes(first), 20)
	require.Equal(t, true, first["pageInfo"].(map[string]any)["hasNextPage"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, nodes(first)[0]["createdAt"])
	last := s.ask(operatorToken, `{ bots(last: 3) { pageInfo { hasPreviousPage } edges { node { id } } } }`, nil).ok("bots")
	require.Len(t, nodes(last), 3)
	require.Equal(t, true, last["pageInfo"].(map[string]any)["hasPreviousPage"])
	for _, field := range connections() {
		for _, arguments := range []string{"first: 0", "first: -1", "first: 101", "last: 0", "last: 101", "first: 5, last: 5"} {
			s.ask(operatorToken, fmt.Sprintf("{ %s(%s) { totalCount } }", field.Name, arguments), nil).fault(200, fault.InvalidPagination)
		}
	}
}

func TestACursorOfAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Agent()
	byHandle := s.ask(operatorToken, `{ bots(orderBy: {field: HANDLE}) { edges { cursor } } }`, nil).ok("bots")
	cursor := byHandle["edges"].([]any)[0].(map[string]any)["cursor"]
	const other = `query ($c: Cursor) { bots(after: $c, orderBy: [{field: CREATED_AT}]) { edges { node { id } } } }`
	s.ask(operatorToken, other, vars{"c": cursor}).fault(200, fault.InvalidPagination)
	const more = `query ($c: Cursor) { bots(after: $c, orderBy: [{field: HANDLE}, {field: CREATED_AT}]) { edges { node { id } } } }`
	s.ask(operatorToken, more, vars{"c": cursor}).fault(200, fault.InvalidPagination)
	const same = `query ($c: Cursor) { bots(after: $c, orderBy: [{field: HANDLE}]) { edges { node { id } } } }`
	var forged strings.Builder
	ent.Cursor{ID: uuid.Must(uuid.NewV7()), Value: []any{"a\x00"}}.MarshalGQL(&forged) // no handle ever was this one
	s.ask(operatorToken, same, vars{"c": strings.Trim(forged.String(), `"`)}).fault(200, fault.InvalidPagination)
}

func TestFiltersNarrow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, other := s.Agent(), s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", other.ID)
	for where, found := range map[string]int{
		`{}`:                                     2,
		`{suspendedAtNotNil: true}`:              1,
		`{handleContainsFold: "AGENT_"}`:         2,
		`{handleContainsFold: "100%"}`:           0,
		`{id: "` + one.ID.String() + `"}`:        1,
		`{not: {id: "` + one.ID.String() + `"}}`: 1,
		`{or: [{suspendedAtNotNil: true}, {suspendedAtIsNil: true}], state: active}`: 2,
		`{createdAtGTE: "2999-01-01T00:00:00Z"}`:                                     0,
	} {
		c := s.ask(operatorToken, `{ bots(where: `+where+`) { totalCount edges { node { id } } } }`, nil).ok("bots")
		require.Len(t, nodes(c), found, where)
		require.InDelta(t, found, c["totalCount"], 0, where)
	}
	entries := s.ask(operatorToken, `query ($id: ID) { ledgerEntries(where: {botID: $id, kind: grant}) { edges { node { deltaMinor number accountKind } } } }`,
		vars{"id": one.ID}).ok("ledgerEntries")
	require.Equal(t, []map[string]any{{"deltaMinor": 500_000.0, "number": 1.0, "accountKind": "available"}}, nodes(entries))
	accounts := s.ask(operatorToken, `{ accounts(where: {hasBotWith: [{suspendedAtNotNil: true}]}) { edges { node { availableMinor bot { id handle } } } } }`, nil).ok("accounts")
	require.Len(t, nodes(accounts), 1)
	require.Equal(t, other.ID.String(), nodes(accounts)[0]["bot"].(map[string]any)["id"])
}

// A filter that cannot be executed is the caller's fault and not a defect.
func TestFiltersThatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const ask = `query ($w: BotWhereInput) { bots(where: $w) { totalCount } }`
	var states, alternatives []any
	for i := range 3000 {
		states, alternatives = append(states, "disputed"), append(alternatives, vars{"handle": fmt.Sprint("a", i)})
	}
	deep := vars{"handle": "a"}
	for range 4000 {
		deep = vars{"not": deep}
	}
	for _, where := range []any{
		vars{"handle": "a\x00"}, vars{"handleContainsFold": "\x00"}, vars{"not": vars{}}, vars{"or": []any{vars{}}},
		vars{"and": []any{vars{"handle": "a"}, vars{}}}, vars{"or": alternatives}, deep,
	} {
		a := s.ask(operatorToken, ask, vars{"w": where})
		require.Len(t, a.Errors, 1, "%.200s", a.raw)
		require.Equal(t, fault.InvalidInput, a.Errors[0].Extensions.Code, "%.200s", a.raw)
	}
	const many = `query ($l: [OrderState!]) { orders(where: {or: [{stateIn: $l}, {not: {stateIn: $l}}, {stateIn: $l}]}) { totalCount } }`
	require.Equal(t, fault.InvalidInput, s.ask(operatorToken, many, vars{"l": states[:1000]}).Errors[0].Extensions.Code)
	s.ask(operatorToken, many, vars{"l": states[:500]}).ok("orders")
	s.ask(operatorToken, `{ tasks(where: {hasCustomerWith: [{}]}) { totalCount } }`, nil).fault(200, fault.InvalidInput)
	s.ask(operatorToken, ask, vars{"w": vars{"or": []any{}, "createdAtGTE": "2026-11-21T00:00:00Z"}}).ok("bots")
	require.Empty(t, s.log.String())
}

func TestAliasesThatWouldReadNothingAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Agent()
	for _, query := range []string{
		`{ bots { n: totalCount } }`, `{ bots { e: edges { cursor } } }`, `{ bots { edges { n: node { id } } } }`, `{ bots { p: pageInfo { endCursor } } }`,
		`{ accounts { edges { node { bot { id } two: bot { handle } } } } }`, `{ bots { ...f } } fragment f on BotConnection { n: totalCount }`,
	} {
		a := s.ask(operatorToken, query, nil)
		require.Equal(t, 400, a.status, "%s", a.raw)
		require.Contains(t, a.Errors[0].Message, "cannot have an alias")
	}
	renamed := s.ask(operatorToken, `{ agents: bots { t: __typename totalCount edges { node { name: handle i: id } } } }`, nil).ok("agents")
	require.NotEmpty(t, nodes(renamed)[0]["name"])
}

func TestNodesOfEverySort(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sown := s.sow()
	for entity, id := range sown.ids {
		node := s.ask(operatorToken, `query ($id: ID!) { node(id: $id) { __typename id } }`, vars{"id": id}).ok("node")
		require.Equal(t, map[string]any{"__typename": entity, "id": id.String()}, node)
	}
	ids := []any{sown.ids["Message"], uuid.Must(uuid.NewV7()), sown.ids["Order"], sown.ids["Message"]}
	a := s.ask(operatorToken, `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Message { sizeBytes } ... on Order { totalMinor customer { handle } } } }`, vars{"ids": ids})
	require.Empty(t, a.Errors, "%s", a.raw)
	found := a.Data["nodes"].([]any)
	require.Len(t, found, 4)
	require.Nil(t, found[1])
	require.InDelta(t, 110, found[2].(map[string]any)["totalMinor"], 0)
	require.Equal(t, found[0], found[3])

	missing := s.ask(operatorToken, `query ($id: ID!) { node(id: $id) { id } }`, vars{"id": uuid.Must(uuid.NewV7())})
	require.Empty(t, missing.Errors)
	require.Nil(t, missing.Data["node"])
	many := make([]any, 101)
	for i := range many {
		many[i] = uuid.Must(uuid.NewV7())
	}
	s.ask(operatorToken, `query ($ids: [ID!]!) { nodes(ids: $ids) { id } }`, vars{"ids": many}).fault(200, fault.InvalidPagination)
}
