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
	Trade *trade
}

// factsOf are the fields of an entity, with the names of those that it only has the ids of.
func (s *console) factsOf(ctx context.Context, listed *section, node map[string]any) ([]fact, error) {
	correctState(listed.Type, node)
	var facts []fact
	for _, field := range fieldsOf(schema.Types[listed.Type]) {
		facts = append(facts, fact{human(field.Name), field.Description, newValue(listed.Type, field, node[field.Name], false)})
	}
	values := make([]*value, len(facts))
	for i := range facts {
		values[i] = &facts[i].Value
	}
	return facts, s.nameIDs(ctx, values)
}

// entity shows an entity, what may be done to it, and what refers to it. Faults: not_found.
func (s *console) entity(w http.ResponseWriter, r *http.Request, listed *section) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	definition := schema.Types[listed.Type]
	query := `query ($id: ID!) { node(id: $id) { __typename ... on ` + listed.Type + ` ` + selectionSet(definition, 1) + ` } }`
	answer, err := s.ask(r.Context(), query, map[string]any{"id": id})
	if err != nil {
		return err
	}
	node := object(answer, "node")
	if node["__typename"] != listed.Type {
		return fault.New(fault.NotFound)
	}
	data := entityData{section: listed, ID: id, Procedures: offered(listed, node), Relations: relations[listed.Type]}
	if data.Facts, err = s.factsOf(r.Context(), listed, node); err != nil {
		return err
	}
	if listed.Type == "Order" {
		if data.Trade, err = s.trade(r.Context(), id); err != nil {
			return err
		}
	}
	title := nameOf(listed, node)
	if data.Trade != nil {
		title = data.Trade.Between + " " + title
	}
	return s.show(w, r, view{
		template: entityPage, Title: title, Path: listed.Path, Notice: notice(r), Data: data,
	})
}
