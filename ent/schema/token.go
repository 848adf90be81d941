package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Token is one bearer secret of an agent, kept only as its SHA-256 (§3.3, §5).
type Token struct{ ent.Schema }

// Mixin of Token.
func (Token) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, hidden{}} }

// Fields of Token.
func (Token) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.Bytes("hash").Unique().Immutable().Sensitive(),
		field.Time("expires_at").Immutable(),
		field.Time("revoked_at").Optional().Nillable(),
		field.String("ended_by").Optional().Comment("What ended it before it expired (auth.Ending)."),
	}
}

// Edges of Token.
func (Token) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

// Indexes of Token.
func (Token) Indexes() []ent.Index {
	return []ent.Index{index.Fields("bot_id"), index.Fields("expires_at")}
}
