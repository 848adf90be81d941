package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Setting is one row with the settings that operators change while the server runs.
type Setting struct{ ent.Schema }

// Mixin of Setting.
func (Setting) Mixin() []ent.Mixin { return []ent.Mixin{updated{}, hidden{}} }

// Fields of Setting.
func (Setting) Fields() []ent.Field {
	return []ent.Field{
		field.Int("id").Immutable(),
		field.Enum("registration_mode").NamedValues("Open", "OPEN", "Invitation", "INVITATION", "Closed", "CLOSED").Default("OPEN"),
		field.Bool("email_gate_enabled").Default(false),
		field.Bool("rewards_enabled").Default(false),
		field.Bool("restore_enabled").Default(false),
		field.Int64("fee_bps").Default(1000).Comment("The platform's fee in basis points of the contractor's reward."),
		field.String("operator_name").Default(""),
		field.String("operator_contact_email").Default(""),
		field.String("operator_website").Default(""),
		field.Time("lifecycle_activated_at").Optional().Nillable(),
		field.Time("email_requirement_activated_at").Optional().Nillable(),
	}
}
