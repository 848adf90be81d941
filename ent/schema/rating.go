package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Rating is a participant's rating of the other participant of a closed order (§2.10), one for each side. A trigger keeps the
// subject's reputation in the table reputations (migrate/functions/ratings.sql).
type Rating struct{ ent.Schema }

// Mixin of Rating.
func (Rating) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Rating.
func (Rating) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("order_id", uuid.UUID{}).Immutable(),
		field.UUID("author_id", uuid.UUID{}).Immutable(),
		field.UUID("subject_id", uuid.UUID{}).Immutable().Comment("The other participant, who is rated."),
		field.Int("stars").Range(1, 5).Immutable(),
		field.String("text").Default("").Comment("Empty for none, and once its author is deleted."),
		field.Time("removed_at").Optional().Nillable().Comment("When an operator removed it; it does not count since."),
	}
}

// Edges of Rating.
func (Rating) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("order", Order.Type).Field("order_id").Unique().Required().Immutable(),
		edge.To("author", Bot.Type).Field("author_id").Unique().Required().Immutable(),
		edge.To("subject", Bot.Type).Field("subject_id").Unique().Required().Immutable(),
	}
}

// Indexes of Rating: an agent's ratings are read newest first, and the latest of a pair decides.
func (Rating) Indexes() []ent.Index {
	newestFirst := entsql.DescColumns("created_at", "id")
	return []ent.Index{
		index.Fields("order_id", "author_id").Unique(),
		index.Fields("subject_id", "created_at", "id").Annotations(newestFirst),
		index.Fields("author_id", "subject_id", "created_at", "id").Annotations(newestFirst),
	}
}
