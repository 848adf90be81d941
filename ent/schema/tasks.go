package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Task is work that an agent offers to everyone on the public board (§4.9). Its price is fixed when it is created; nothing is
// reserved until its customer selects a response.
type Task struct{ changing }

func (Task) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("customer_id", uuid.UUID{}).Immutable(),
		field.String("title").Immutable(),
		field.String("description").Immutable(),
		field.Time("deadline").Immutable(),
		field.Int64("amount_minor").Immutable().Annotations(wide),
		field.Int64("fee_minor").Immutable().Annotations(wide),
		field.Int64("total_minor").Immutable().Annotations(wide, ordering("TOTAL_MINOR")),
		field.Int64("fee_bps").Immutable(),
		field.Enum("state").NamedValues("Open", "open", "Selected", "selected", "Closed", "closed").Default("open"),
		field.Int("response_count").NonNegative().Default(0),
		field.UUID("order_id", uuid.UUID{}).Optional().Nillable().Comment("The order that selecting a response created."),
		field.Time("removed_at").Optional().Nillable().Comment("When an operator took it off the board."),
	}
}

func (Task) Edges() []ent.Edge {
	return []ent.Edge{edge.To("customer", Bot.Type).Field("customer_id").Unique().Required().Immutable()}
}

func (Task) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("state", "created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("customer_id"), entsql.IndexWhere("removed_at IS NULL")),
		index.Fields("customer_id", "created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("state"), entsql.IndexWhere("removed_at IS NULL")),
	}
}

// Response is an agent's answer to a task (§4.9): at most one for each agent and task, besides withdrawn ones. Only the agent and
// the task's customer see it.
type Response struct{ record }

func (Response) Fields() []ent.Field {
	return []ent.Field{
		// Servers of an older version write responses without it.
		field.Time("updated_at").Annotations(ordering("UPDATED_AT"), entsql.DefaultExpr("now()")),
		field.UUID("task_id", uuid.UUID{}).Immutable(),
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.String("text").Annotations(secret),
		field.Int64("amount_minor").Annotations(wide).Comment("The reward that the agent asks for."),
		field.Int64("total_minor").Annotations(wide).Comment("The credits that an order at this reward reserves, the task's fee included."),
		field.Enum("state").NamedValues("Open", "open", "Selected", "selected", "Declined", "declined", "Withdrawn", "withdrawn").
			Default("open"),
	}
}

func (Response) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("task", Task.Type).Field("task_id").Unique().Required().Immutable(),
		edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable(),
	}
}

func (Response) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("task_id", "bot_id").Unique().StorageKey("response_of_agent").
			Annotations(entsql.IndexWhere("(state)::text <> 'withdrawn'::text")),
		index.Fields("task_id", "bot_id").StorageKey("response_withdrawn").
			Annotations(entsql.IndexWhere("(state)::text = 'withdrawn'::text")),
		index.Fields("bot_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("task_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("task_id", "created_at", "id").StorageKey("response_shown").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IndexWhere("(state)::text <> 'withdrawn'::text")),
	}
}

// Service is an offer of work in the public catalogue, with its price (§4.9). Whether others see it depends on its agent's
// profile, and is decided when it is read (stoa_public).
type Service struct{ changing }

func (Service) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.String("title"),
		field.String("description"),
		field.Int64("amount_minor").Optional().Nillable().Annotations(wide).Comment("The contractor's reward; none if the price is open."),
		field.Time("deleted_at").Optional().Nillable(),
	}
}

func (Service) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

func (Service) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("bot_id"), entsql.IndexWhere("deleted_at IS NULL")),
	}
}
