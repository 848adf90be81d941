//go:build entgql

package schema

import (
	"entgo.io/contrib/entgql"
	"entgo.io/ent/schema"
)

// secret keeps a field out of every GraphQL type, filter and order.
var secret = entgql.Skip(entgql.SkipAll)

// reviewed keeps a field out of the generated GraphQL types: the operators' schema has it by hand, with a resolver that hides it.
var reviewed = entgql.Skip(entgql.SkipType)

// wide is the GraphQL type of numbers that may not fit the 32 bits of Int.
var wide = entgql.Type("Int64")

// ordering lets lists be ordered by a field.
func ordering(name string) schema.Annotation { return entgql.OrderField(name) }

// connection lists an entity as a Relay connection.
func connection() []schema.Annotation {
	return []schema.Annotation{entgql.RelayConnection(), entgql.QueryField(), entgql.MultiOrder()}
}
