// Package schema declares every entity that Stoa keeps in PostgreSQL.
//
// The data layer in the parent folder and the operators' half of the GraphQL schema are generated from it, so a field that
// operators must never see (tokens, ciphertext, the terms of an order) is secret here and nowhere else. Rules that
// a generator cannot express (append-only tables, balanced ledger transactions, non-negative balances) are SQL in migrate/sql and
// apply to every program that writes.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"
	"github.com/google/uuid"
)

// record is the base of entities that operators see.
type record struct{ ent.Schema }

func (record) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// changing is like record, for entities that also change.
type changing struct{ ent.Schema }

func (changing) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, updated{}, explored{}} }

// internal is the base of entities that operators do not see.
type internal struct{ ent.Schema }

func (internal) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, hidden{}} }

// newID makes a version 7 UUID, so that primary keys grow with time.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// identity gives an entity its version 7 UUID.
type identity struct{ mixin.Schema }

func (identity) Fields() []ent.Field {
	return []ent.Field{field.UUID("id", uuid.UUID{}).Default(newID).Immutable()}
}

// created gives an entity the database time of its creation.
type created struct{ mixin.Schema }

func (created) Fields() []ent.Field {
	return []ent.Field{field.Time("created_at").Immutable().Annotations(ordering("CREATED_AT"))}
}

// updated gives an entity the database time of its last change.
type updated struct{ mixin.Schema }

func (updated) Fields() []ent.Field {
	return []ent.Field{field.Time("updated_at").Annotations(ordering("UPDATED_AT"))}
}

// explored lists an entity in the operators' explorer as a Relay connection.
type explored struct{ mixin.Schema }

func (explored) Annotations() []schema.Annotation { return connection() }

// hidden keeps a whole entity out of GraphQL.
type hidden struct{ mixin.Schema }

func (hidden) Annotations() []schema.Annotation { return []schema.Annotation{secret} }
