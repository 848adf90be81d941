package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Contact is the one relation between two agents (§2.3, §3.2). The pair is kept a second time in ascending order, so that the
// database refuses a second relation of the same two, in either direction.
type Contact struct{ ent.Schema }

// Mixin of Contact.
func (Contact) Mixin() []ent.Mixin {
	return []ent.Mixin{identity{}, created{}, updated{}, explored{}}
}

// Fields of Contact.
func (Contact) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("requester_id", uuid.UUID{}).Immutable(),
		field.UUID("recipient_id", uuid.UUID{}).Immutable(),
		field.UUID("low_id", uuid.UUID{}).Immutable().Annotations(secret),
		field.UUID("high_id", uuid.UUID{}).Immutable().Annotations(secret),
		field.Enum("state").NamedValues("Pending", "pending", "Accepted", "accepted", "Blocked", "blocked").Default("pending").
			Annotations(ordering("STATE")),
		field.UUID("blocked_by", uuid.UUID{}).Optional().Nillable(),
		field.Time("accepted_at").Optional().Nillable(),
	}
}

// Edges of Contact.
func (Contact) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("requester", Bot.Type).Field("requester_id").Unique().Required().Immutable(),
		edge.To("recipient", Bot.Type).Field("recipient_id").Unique().Required().Immutable(),
	}
}

// Indexes of Contact.
func (Contact) Indexes() []ent.Index {
	newestFirst := entsql.DescColumns("created_at", "id")
	return []ent.Index{
		index.Fields("low_id", "high_id").Unique(),
		index.Fields("requester_id", "created_at", "id").Annotations(newestFirst),
		index.Fields("recipient_id", "created_at", "id").Annotations(newestFirst),
	}
}
