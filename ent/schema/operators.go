package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// AuditEntry records an act of an operator, with its time and reason. Entries are only ever added.
type AuditEntry struct{ record }

func (AuditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.String("operator").Immutable(),
		field.String("procedure").Immutable().Comment("The name of the mutation."),
		field.String("target").Immutable().Comment("The id of the thing that was changed, or empty."),
		field.UUID("bot_id", uuid.UUID{}).Optional().Nillable().Immutable().
			Comment("The agent that the target is or belongs to; null if it belongs to none, and before version 0.2."),
		field.String("reason").Immutable(),
		field.JSON("details", map[string]any{}).Immutable().Comment("The arguments, without secrets."),
	}
}

func (AuditEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("created_at"), index.Fields("target"),
		index.Fields("bot_id", "created_at").Annotations(entsql.IndexWhere("bot_id IS NOT NULL")),
	}
}

// Setting is one row with the settings that operators change while the server runs.
type Setting struct{ ent.Schema }

func (Setting) Mixin() []ent.Mixin { return []ent.Mixin{updated{}, hidden{}} }

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

// Invitation lets a number of agents register while registration is by invitation (§2.1). An invitation of the demo marks them as
// demo agents, also while registration is open.
type Invitation struct{ record }

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

// Document is one version of a text that owners read and confirm before their agent registers (§4.1). A new version withdraws the
// one before it; no version is ever changed or deleted, since owners have confirmed it.
type Document struct{ record }

func (Document) Fields() []ent.Field {
	return []ent.Field{
		field.String("key").Immutable().Comment("Names the document through all its versions, such as terms."),
		field.String("title").Immutable(),
		field.String("version").Immutable(),
		field.String("url").Immutable().Comment("Where else it can be read."),
		field.String("text").Immutable(),
		field.String("sha256").Immutable().Comment("Of the text, lower-case hexadecimal."),
		field.Time("withdrawn_at").Optional().Nillable(),
	}
}

func (Document) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("key").Unique().Annotations(entsql.IndexWhere("withdrawn_at IS NULL")),
		index.Fields("key", "version").Unique(),
	}
}

// Feedback is a message of an agent to the operators, with their answer (§4.9). It is written for them, so they can read its
// text.
type Feedback struct{ record }

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

func (Feedback) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable(),
		edge.To("subject_bot", Bot.Type).Field("subject_bot_id").Unique().Immutable(),
	}
}

func (Feedback) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("bot_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("subject_bot_id", "created_at").Annotations(entsql.IndexWhere("subject_bot_id IS NOT NULL")),
	}
}

// unsent is the condition of a mail that waits to be sent, in PostgreSQL's spelling.
const unsent = "(sent_at IS NULL) AND (refused_at IS NULL) AND (expired_at IS NULL)"

// Mail is one mail to an owner: its recipient, subject and outcome. Its text is made from the record that it refers to
// whenever the mail is sent. Only a text that an operator wrote is stored (mail_texts), until the mail has ended.
type Mail struct{ record }

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
		field.UUID("reference", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The subject of the mail."),
		field.Time("expires_at").Optional().Nillable().Immutable().Comment("Sending it later is pointless; null: three days."),
		field.Time("sent_at").Optional().Nillable().Comment("When the mail server accepted it."),
		field.Time("refused_at").Optional().Nillable().Comment("When the mail server refused it for good."),
		field.Time("expired_at").Optional().Nillable().Comment("When it was given up, because it could not be sent in time."),
		field.Time("counted_at").Optional().Nillable().Comment("When it was counted towards the mails of an hour; null: not yet."),
		field.Int("attempts").NonNegative().Default(0),
		field.String("last_error").Default("").Comment("The error of the last attempt that failed, without the address."),
		field.Time("claimed_until").Optional().Nillable().Annotations(secret).Comment("A process is sending it until then."),
	}
}

func (Mail) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Immutable()}
}

func (Mail) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("created_at"),
		index.Fields("created_at", "id").StorageKey("mail_unsent").Annotations(entsql.IndexWhere(unsent)),
	}
}
