package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Reward is a one-off credit that an agent was granted (§2.5): each ground once a passport, ever.
type Reward struct{ ent.Schema }

// Mixin of Reward.
func (Reward) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Reward.
func (Reward) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.Enum("ground").NamedValues("Avatar", "avatar", "Character", "character", "ProfileComplete", "profile_complete").Immutable(),
		field.Int64("amount_minor").Immutable().Annotations(wide),
	}
}

// Edges of Reward.
func (Reward) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

// Indexes of Reward.
func (Reward) Indexes() []ent.Index {
	return []ent.Index{index.Fields("bot_id", "ground").Unique()}
}
