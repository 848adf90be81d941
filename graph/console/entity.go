package console

import (
	"context"
	"net/http"

	"stoa/graph/platform/fault"
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
	*section
	ID         string
	Facts      []fact
	Procedures []*procedure
	Relations  []relation
	// Trade says of an order why it is stuck and who can end it; nil for other entities.
	Trade map[string]any
}

// factsOf are the fields of an entity, with the names of those that it only has the ids of.
func (s *console) factsOf(ctx context.Context, listed *section, node map[string]any) ([]fact, error) {
	listed.correct(node)
	facts := factsOf(listed.Type, node)
	values := make([]*value, len(facts))
	for i := range facts {
		values[i] = &facts[i].Value
	}
	return facts, s.nameIDs(ctx, values)
}

// factsOf are the fields of an object.
func factsOf(kind string, fields map[string]any) (all []fact) {
	for _, field := range fieldsOf(schema.Types[kind]) {
		all = append(all, fact{human(field.Name), field.Description, newValue(kind, field, fields[field.Name], false)})
	}
	return all
}

// node asks for an entity of a section; nil if there is none. more are further fields of the query.
func (s *console) node(ctx context.Context, listed *section, id, selected, more string) (node, answer map[string]any, err error) {
	query := `query ($id: ID!) { node(id: $id) { __typename ... on ` + listed.Type + ` ` + selected + ` } ` + more + ` }`
	answer, err = s.ask(ctx, query, map[string]any{"id": id})
	if node = object(answer, "node"); node["__typename"] != listed.Type {
		node = nil
	}
	return node, answer, err
}

// entity shows an entity, what may be done to it, and what refers to it. Faults: not_found.
func (s *console) entity(w http.ResponseWriter, r *http.Request, listed *section) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	more := ""
	if listed.Type == "Order" {
		more = `trade(orderId: $id) ` + tradeFields
	}
	node, answer, err := s.node(r.Context(), listed, id, selectionSet(schema.Types[listed.Type], 1), more)
	if err != nil {
		return err
	}
	if node == nil {
		return fault.New(fault.NotFound)
	}
	data := entityData{
		section: listed, ID: id, Procedures: offered(listed, node), Relations: relations[listed.Type], Trade: object(answer, "trade"),
	}
	if data.Facts, err = s.factsOf(r.Context(), listed, node); err != nil {
		return err
	}
	title := nameOf(listed, node)
	if data.Trade != nil {
		title = between(data.Trade) + " " + title
	}
	return s.show(w, r, view{template: "entity", Title: title, Path: listed.Path, Notice: notice(r), Data: data})
}
