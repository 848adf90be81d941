package schema

import (
	"maps"

	"entgo.io/ent/schema"
)

// annotation holds members of entgql.Annotation, which generates the GraphQL schema (cmd/generate/ent). The package entgql itself
// would bring the generators of ent and gqlgen into the server.
type annotation map[string]any

// Name is the name of entgql's annotations.
func (annotation) Name() string { return "EntGQL" }

// Merge implements schema.Merger.
func (a annotation) Merge(other schema.Annotation) schema.Annotation {
	merged := maps.Clone(a)
	if more, ok := other.(annotation); ok {
		maps.Copy(merged, more)
	}
	return merged
}

const (
	skipType = 1        // entgql.SkipType
	skipAll  = 1<<6 - 1 // entgql.SkipAll
)

var (
	// secret keeps a field out of every GraphQL type, filter and order.
	secret = annotation{"Skip": skipAll}
	// reviewed keeps a field out of the generated GraphQL types: the operators' schema has it by hand, with a resolver that hides it.
	reviewed = annotation{"Skip": skipType}
	// wide is the GraphQL type of numbers that may not fit the 32 bits of Int.
	wide = annotation{"Type": "Int64"}
)

// ordering lets lists be ordered by a field.
func ordering(name string) annotation { return annotation{"OrderField": name} }

// connection lists an entity as a Relay connection.
func connection() []schema.Annotation {
	return []schema.Annotation{annotation{"RelayConnection": true, "QueryField": struct{}{}, "MultiOrder": true}}
}
