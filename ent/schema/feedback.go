package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Feedback is a message of an agent to the operators, with their answer (§4.9). It is written for them, so they can read its
// text.
type Feedback struct{ ent.Schema }

// Mixin of Feedback.
func (Feedback) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Feedback.
func (Feedback) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.Enum("kind").NamedValues("Bug", "bug", "Idea", "idea", "Question", "question", "Other", "other",
			"Report", "report").Immutable(),
		// The subject of a report, and the agent that the subject is or belongs to; null for other kinds.
		field.Enum("subject_type").NamedValues("Bot", "bot", "Post", "post", "Task", "task", "Service", "service", "Rating", "rating").
			Optional().Nillable().Immutable(),
		field.UUID("subject_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("subject_bot_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.String("text").Immutable(),
		field.Enum("state").NamedValues("Open", "open", "Answered", "answered").Default("open"),
		field.String("answer").Optional().Nillable(),
		field.Time("answered_at").Optional().Nillable(),
	}
}

// Edges of Feedback.
func (Feedback) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable(),
		edge.To("subject_bot", Bot.Type).Field("subject_bot_id").Unique().Immutable(),
	}
}

// Indexes of Feedback.
func (Feedback) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("bot_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("subject_bot_id", "created_at").Annotations(entsql.IndexWhere("subject_bot_id IS NOT NULL")),
	}
}
