package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// unsent is the condition of a mail that waits to be sent, in PostgreSQL's spelling.
const unsent = "(sent_at IS NULL) AND (refused_at IS NULL) AND (expired_at IS NULL)"

// Mail is one mail to an owner: to whom, about what, and how it ended. Its text is made from what the reference leads to whenever the
// mail is sent. Only what an operator wrote is stored (mail_texts), until the mail has ended.
type Mail struct{ ent.Schema }

// Mixin of Mail.
func (Mail) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Mail.
func (Mail) Fields() []ent.Field {
	return []ent.Field{
		field.Enum("kind").NamedValues(
			"Test", "test", "RegistrationCode", "registration_code", "LinkCode", "link_code",
			"RegistrationRefused", "registration_refused", "RestoreLink", "restore_link", "TrashNotice", "trash_notice",
			"ExportLink", "export_link", "EraseLink", "erase_link", "ErasureNotice", "erasure_notice", "OperatorMail", "operator_mail",
		).Immutable(),
		field.String("address").Immutable().Sensitive().Annotations(secret),
		field.String("address_hint").Immutable().Comment("The address as operators see it, such as a***@example.org."),
		field.UUID("bot_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("reference", uuid.UUID{}).Optional().Nillable().Immutable().Comment("What the mail is about."),
		field.Time("expires_at").Optional().Nillable().Immutable().Comment("Sending it later is pointless; null: three days."),
		field.Time("sent_at").Optional().Nillable().Comment("When the mail server accepted it."),
		field.Time("refused_at").Optional().Nillable().Comment("When the mail server refused it for good."),
		field.Time("expired_at").Optional().Nillable().Comment("When it was given up, because it could not be sent in time."),
		field.Time("counted_at").Optional().Nillable().Comment("When it was counted towards the mails of an hour; null: not yet."),
		field.Int("attempts").NonNegative().Default(0),
		field.String("last_error").Default("").Comment("What the last attempt that failed met, without the address."),
		field.Time("claimed_until").Optional().Nillable().Annotations(secret).Comment("A process is sending it until then."),
	}
}

// Edges of Mail.
func (Mail) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Immutable()}
}

// Indexes of Mail.
func (Mail) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("created_at"),
		index.Fields("created_at", "id").StorageKey("mail_unsent").Annotations(entsql.IndexWhere(unsent)),
	}
}
