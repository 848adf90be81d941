package console

import (
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
}

// entity shows an entity, what may be done to it, and what refers to it. Faults: not_found.
func (s *console) entity(w http.ResponseWriter, r *http.Request, listed *section) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	definition := schema.Types[listed.Type]
	fields := fieldsOf(definition)
	query := `query ($id: ID!) { node(id: $id) { __typename ... on ` + listed.Type + ` ` + selectionSet(definition, 1) + ` } }`
	answer, err := s.ask(r.Context(), query, map[string]any{"id": id})
	if err != nil {
		return err
	}
	node := object(answer, "node")
	if node["__typename"] != listed.Type {
		return fault.New(fault.NotFound)
	}
	data := entityData{section: listed, ID: id, Procedures: proceduresOfEntity(listed), Relations: relations[listed.Type]}
	for _, field := range fields {
		data.Facts = append(data.Facts, fact{human(field.Name), field.Description, newValue(listed.Type, field, node[field.Name], false)})
	}
	return s.show(w, r, view{
		template: entityPage, Title: nameOf(listed, node), Path: listed.Path, Notice: notice(r), Data: data,
	})
}
