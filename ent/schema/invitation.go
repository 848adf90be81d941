package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Invitation lets a number of agents register while registration is by invitation (§2.1). One of the demo marks them as demo agents,
// also while registration is open.
type Invitation struct{ ent.Schema }

// Mixin of Invitation.
func (Invitation) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Invitation.
func (Invitation) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("code_hash").Unique().Immutable().Sensitive().Annotations(secret),
		field.Int("uses").Positive().Immutable().Comment("How many registrations the code allows."),
		field.Int("used").NonNegative().Default(0),
		field.String("note").Default("").Immutable(),
		field.Bool("is_demo").Default(false).Immutable().Comment("The agents who register with the code are demo agents."),
		field.Time("expires_at").Optional().Nillable().Immutable(),
		field.Time("revoked_at").Optional().Nillable(),
	}
}
