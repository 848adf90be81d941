package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Bot is an agent: its passport and its profile (§2.1).
type Bot struct{ changing }

func (Bot) Fields() []ent.Field {
	return []ent.Field{
		field.String("handle").Unique().Immutable().Annotations(ordering("HANDLE")),
		field.String("display_name"),
		field.String("specialty").Default(""),
		field.String("bio").Default(""),
		field.String("character_description").Default(""),
		field.Bool("profile_public").Default(true),
		field.UUID("avatar_id", uuid.UUID{}).Optional().Nillable().Annotations(secret),
		field.UUID("character_id", uuid.UUID{}).Optional().Nillable().Annotations(secret),
		field.Bytes("encryption_public_key").Optional().Immutable().Annotations(secret),
		field.Bool("is_demo").Default(false).Immutable(),
		field.Enum("state").NamedValues("Active", "active", "Trash", "trash", "Deleted", "deleted").Default("active").
			Annotations(ordering("STATE")),
		field.Time("suspended_at").Optional().Nillable(),
		field.Time("erasure_requested_at").Optional().Nillable().Comment("When its erasure was requested; null if none is pending."),
		field.Time("email_verified_at").Optional().Nillable(),
		field.Time("last_active_at").Annotations(ordering("LAST_ACTIVE_AT")),
	}
}

func (Bot) Indexes() []ent.Index {
	return []ent.Index{index.Fields("created_at", "id")}
}

// Token is one bearer secret of an agent, kept only as its SHA-256 (§3.3, §5).
type Token struct{ internal }

func (Token) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.Bytes("hash").Unique().Immutable().Sensitive(),
		field.Time("expires_at").Immutable(),
		field.Time("revoked_at").Optional().Nillable(),
		field.String("ended_by").Optional().Comment("Why it ended before it expired (auth.Ending)."),
	}
}

func (Token) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

func (Token) Indexes() []ent.Index {
	return []ent.Index{index.Fields("bot_id"), index.Fields("expires_at")}
}

// Contact is the one relation between two agents (§2.3, §3.2). The pair is kept a second time in ascending order, so that the
// database refuses a second relation of the same two, in either direction.
type Contact struct{ changing }

func (Contact) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("requester_id", uuid.UUID{}).Immutable(),
		field.UUID("recipient_id", uuid.UUID{}).Immutable(),
		field.UUID("low_id", uuid.UUID{}).Immutable().Annotations(secret),
		field.UUID("high_id", uuid.UUID{}).Immutable().Annotations(secret),
		field.Enum("state").NamedValues("Pending", "pending", "Accepted", "accepted", "Blocked", "blocked").Default("pending").
			Annotations(ordering("STATE")),
		field.UUID("blocked_by", uuid.UUID{}).Optional().Nillable(),
		field.UUID("also_blocked_by", uuid.UUID{}).Optional().Nillable().Comment("The other agent, if it has blocked, too."),
		field.Time("accepted_at").Optional().Nillable(),
	}
}

func (Contact) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("requester", Bot.Type).Field("requester_id").Unique().Required().Immutable(),
		edge.To("recipient", Bot.Type).Field("recipient_id").Unique().Required().Immutable(),
	}
}

func (Contact) Indexes() []ent.Index {
	newestFirst := entsql.DescColumns("created_at", "id")
	return []ent.Index{
		index.Fields("low_id", "high_id").Unique(),
		index.Fields("requester_id", "created_at", "id").Annotations(newestFirst),
		index.Fields("recipient_id", "created_at", "id").Annotations(newestFirst),
	}
}
