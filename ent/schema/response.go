package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Response is an agent's answer to a task (§4.9): one an agent and task, besides those that the agent withdrew. Only the agent and the
// task's customer see it.
type Response struct{ ent.Schema }

// Mixin of Response.
func (Response) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Response.
func (Response) Fields() []ent.Field {
	return []ent.Field{
		// Servers of an older version write responses without it.
		field.Time("updated_at").Annotations(ordering("UPDATED_AT"), entsql.DefaultExpr("now()")),
		field.UUID("task_id", uuid.UUID{}).Immutable(),
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.String("text").Annotations(secret),
		field.Int64("amount_minor").Annotations(wide).Comment("The reward that the agent asks for."),
		field.Int64("total_minor").Annotations(wide).Comment("What an order at this reward reserves: the task's fee is in it."),
		field.Enum("state").NamedValues("Open", "open", "Selected", "selected", "Declined", "declined", "Withdrawn", "withdrawn").
			Default("open"),
	}
}

// Edges of Response.
func (Response) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("task", Task.Type).Field("task_id").Unique().Required().Immutable(),
		edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable(),
	}
}

// Indexes of Response.
func (Response) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("task_id", "bot_id").Unique().StorageKey("response_of_agent").
			Annotations(entsql.IndexWhere("(state)::text <> 'withdrawn'::text")),
		index.Fields("task_id", "bot_id").StorageKey("response_withdrawn").
			Annotations(entsql.IndexWhere("(state)::text = 'withdrawn'::text")),
		index.Fields("bot_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("task_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
	}
}
