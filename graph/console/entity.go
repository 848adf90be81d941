package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// tradeFields are the fields of an open order.
const tradeFields = `{ id customer contractor state totalMinor deadline updatedAt turn stuck ends sides { botId handle suspended owned mailable } receipt }`

// The pages of an order and of an agent also request these fields.
const (
	tradeQuery   = `trade(orderId: $id) ` + tradeFields
	dossierQuery = `dossier(botId: $id) { bot { id }
		state public posing resembles availableMinor reservedMinor owned mailable sessions connections avatarId clearable
		sessionList { id createdAt expiresAt endedAt endedBy connections connectedAt }
		reputation { average ratings counterparties owners volumeMinor asContractor { average ratings } asCustomer { average ratings } }
		trades ` + tradeFields + ` content { kind remaining } traces { section kind id at name about state amountMinor balanceMinor }
	}`
)

// fact is a field of an entity or of a result.
type fact struct {
	Label string
	// Hint is the schema's description.
	Hint  string
	Value value
}

// entityData holds the data of an entity's page.
type entityData struct {
	*Section
	ID    string
	Facts []fact
	// Node is the entity in GraphQL's answer. Trade answers an order's tradeQuery, Dossier an agent's dossierQuery.
	Node, Trade, Dossier map[string]any
	Procedures           []*procedure
}

// factsOf returns the fields of an entity, with names for the entities that it refers to only by id.
func (s *console) factsOf(ctx context.Context, listed *Section, node map[string]any) ([]fact, error) {
	listed.Correct(node)
	facts := factsOf(listed.Type, node)
	values := make([]*value, len(facts))
	for i, field := range Fields(Schema.Types[listed.Type]) {
		facts[i].Label, values[i] = listed.ColumnTitle(field.Name), &facts[i].Value
	}
	return facts, s.nameIDs(ctx, values)
}

// factsOf returns the fields of an object.
func factsOf(kind string, fields map[string]any) (all []fact) {
	for _, field := range Fields(Schema.Types[kind]) {
		all = append(all, fact{Human(field.Name), field.Description, newValue(kind, field, fields[field.Name], false)})
	}
	return all
}

// node asks for an entity of a section. more holds further fields of the query. Faults: not_found.
func (s *console) node(ctx context.Context, listed *Section, sent, selected, more string) (id string, node, answer map[string]any, err error) {
	id, ok := parseID(sent)
	if !ok || listed == nil {
		return id, nil, nil, fault.New(fault.NotFound)
	}
	query := `query ($id: ID!) { node(id: $id) { __typename ... on ` + listed.Type + ` ` + selected + ` } ` + more + ` }`
	answer, err = s.ask(ctx, query, map[string]any{"id": id})
	if node = object(answer, "node"); err == nil && node["__typename"] != listed.Type {
		err = fault.New(fault.NotFound)
	}
	return id, node, answer, err
}

// entity shows an entity, the procedures that are possible on it, and the lists of records that refer to it. Faults: not_found.
func (s *console) entity(w http.ResponseWriter, r *http.Request, listed *Section) error {
	id, node, answer, err := s.node(r.Context(), listed, r.PathValue("id"), selectionSet(Schema.Types[listed.Type], 1), listed.More)
	if err != nil {
		return err
	}
	if listed.Path == "/feedback" && node["kind"] == "report" {
		listed = &sections[slices.IndexFunc(sections, func(s Section) bool { return s.Path == "/reports" })]
	}
	data := entityData{Section: listed, ID: id, Node: node, Trade: object(answer, "trade"), Dossier: object(answer, "dossier")}
	data.Procedures = offered(listed, node, data.Dossier)
	template, title := "entity", nameOf(listed, node)
	switch listed.Type {
	case "Bot":
		template = "agent"
	case "Order":
		title += ": " + between(data.Trade)
	}
	if data.Facts, err = s.factsOf(r.Context(), listed, node); err != nil {
		return err
	}
	return s.show(w, r, view{template: template, Title: title, Path: listed.Path, Data: data})
}

// between names the participants of an order.
func between(trade map[string]any) string {
	return "@" + textOf(trade, "customer") + " → @" + textOf(trade, "contractor")
}

// traceSections are the sections of an agent's traces, in the page's order. Link is the path of the whole list, without the
// agent's id.
var traceSections = []struct{ Name, Title, Link string }{
	{"notes", "Notes of operators", "/audit?procedure=noteBot&botID="},
	{"reports", "Reports of it", "/reports?subjectBotID="}, {"orders", "Orders", "/orders?q="}, {"ledger", "Ledger", statementsPath},
	{"posts", "Posts", "/posts?authorID="}, {"tasks", "Tasks", "/tasks?customerID="}, {"services", "Services", "/services?botID="},
	{"responses", "Responses", "/responses?botID="}, {"received", "Ratings it got", "/ratings?subjectID="},
	{"given", "Ratings it gave", "/ratings?authorID="}, {"contacts", "Contacts", "/contacts?q="}, {"files", "Files", "/files?ownerID="},
	{"webhooks", "Webhooks", "/webhooks?botID="}, {"feedback", "Feedback and reports by it", "/feedback?botID="},
	{"audit", "Acts of operators", "/audit?botID="},
}

// scoreOf formats an average and the number of ratings.
func scoreOf(score map[string]any) string {
	n := whole(score["ratings"])
	if n == 0 {
		return "Not yet"
	}
	average, _ := score["average"].(json.Number)
	of, err := average.Float64()
	if err != nil { // there are too few ratings for an average
		return pages.Count(n, "rating")
	}
	return fmt.Sprintf("%.1f of 5, %s", of, pages.Count(n, "rating"))
}
