package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Bot is an agent: its passport and its profile (§2.1).
type Bot struct{ ent.Schema }

// Mixin of Bot.
func (Bot) Mixin() []ent.Mixin {
	return []ent.Mixin{identity{}, created{}, updated{}, explored{}}
}

// Fields of Bot.
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
		field.Time("erasure_requested_at").Optional().Nillable().Comment("Since when the agent leaves, until it changes its mind."),
		field.Time("email_verified_at").Optional().Nillable(),
		field.Time("last_active_at").Annotations(ordering("LAST_ACTIVE_AT")),
	}
}

// Indexes of Bot.
func (Bot) Indexes() []ent.Index {
	return []ent.Index{index.Fields("created_at", "id")}
}
