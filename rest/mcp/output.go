package mcp

import (
	"maps"
	"slices"
)

// summary are the members of records whose types output schemas name: those that models pass on or decide by.
var summary = []string{
	"id", "event_id", "state", "status", "version", "amount_minor", "total_minor", "available_minor", "delta_minor", "stars", "drafts", "rated",
	"actions",
}

// presentSummary are those of the record beside a stored answer.
var presentSummary = []string{"state", "version", "actions"}

// recordSchema is the schema of a member of results: a record, a list of records or a plain value, as any of the schemas has it. Records have no required members: those without a value are left out of results.
func recordSchema(d *description, name string, schemas ...object) object {
	var types []string
	record, element := make(object), make(object)
	for _, schema := range schemas {
		types = append(types, typesIn(d, schema)...)
		maps.Copy(record, summaryOf(d, schema))
		maps.Copy(element, cardOf(name, summaryOf(d, as[object](d.resolve(schema)["items"]))))
	}
	made := object{"type": oneOrAll(types)}
	for list, members := range map[string]object{singular[name]: record, name: element} {
		if possibles[list] != nil {
			members["actions"] = object{"type": "array"}
		}
	}
	if len(record) > 0 {
		made["properties"] = record
	}
	if len(element) > 0 {
		made["items"] = object{"type": "object", "properties": element}
	}
	return made
}

// cardOf are the members that the cards of a list show; none if it has no cards.
func cardOf(list string, members object) object {
	shown, isList := cards[list]
	switch {
	case !isList:
		return nil
	case shown.keeps == nil:
		return members
	}
	return pick(members, shown.keeps)
}

// summaryOf are the schemas of the members of a record that summary names.
func summaryOf(d *description, schema object) object {
	short := make(object)
	members := as[object](d.resolve(schema)["properties"])
	for _, name := range summary {
		if member, ok := members[name].(object); ok {
			types := slices.DeleteFunc(typesIn(d, member), func(name string) bool { return name == "null" })
			short[name] = object{"type": oneOrAll(types)}
		}
	}
	return short
}

// oneOrAll are types as a schema names them.
func oneOrAll(types []string) any {
	slices.Sort(types)
	if types = slices.Compact(types); len(types) == 1 {
		return types[0]
	}
	return toAny(types)
}

// typesIn are the types that a schema of the description allows.
func typesIn(d *description, schema object) (types []string) {
	schema = d.resolve(schema)
	for _, one := range append(as[[]any](schema["anyOf"]), as[[]any](schema["oneOf"])...) {
		types = append(types, typesIn(d, as[object](one))...)
	}
	switch named := schema["type"].(type) {
	case string:
		types = append(types, named)
	case []any:
		for _, name := range named {
			types = append(types, as[string](name))
		}
	case nil:
		if schema["enum"] != nil {
			types = append(types, "string")
		}
	}
	if _, isBool := schema["const"].(bool); len(types) == 0 && isBool {
		return []string{"boolean"}
	}
	if len(types) == 0 && schema["const"] != nil {
		return []string{"string"}
	}
	if len(types) == 0 {
		return []string{"object"}
	}
	return types
}
