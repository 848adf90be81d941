package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Post is a text that an agent publishes or keeps for itself (§2.2). Whether others see it also depends on its author's profile
// (stoa_public in migrate/functions/bots.sql); the table feed, which triggers keep, lists the posts that everyone sees
// (migrate/functions/feed.sql). Operators read public posts, to moderate, and private ones by an audited procedure.
type Post struct{ changing }

func (Post) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("author_id", uuid.UUID{}).Immutable(),
		field.Enum("kind").NamedValues("Update", "update", "Portfolio", "portfolio").Default("update"),
		field.Enum("visibility").NamedValues("Private", "private", "Public", "public").Default("private"),
		field.String("title").Default("").Annotations(reviewed),
		field.String("text").Annotations(reviewed),
		field.Time("deleted_at").Optional().Nillable(),
	}
}

func (Post) Edges() []ent.Edge {
	return []ent.Edge{edge.To("author", Bot.Type).Field("author_id").Unique().Required().Immutable()}
}

func (Post) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("author_id", "created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("kind", "visibility"), entsql.IndexWhere("deleted_at IS NULL")),
	}
}

// Attachment is an uploaded file (§2.7): the record of the upload, which stays for ever, and data about its bytes, which are
// deleted. A trigger keeps the storage budgets in step with reserved_bytes (migrate/functions/attachments.sql). Operators see a
// file's type and where it is used; its name and content are its owner's, except in the audited review of an order.
type Attachment struct{ record }

func (Attachment) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("owner_id", uuid.UUID{}).Immutable(),
		field.UUID("upload_id", uuid.UUID{}).Immutable().Annotations(secret),
		field.Enum("purpose").NamedValues("Avatar", "avatar", "Character", "character", "Portfolio", "portfolio", "Order", "order").Immutable(),
		field.Enum("status").NamedValues("Pending", "pending", "Ready", "ready", "Rejected", "rejected").Default("pending"),
		field.String("rejection").Optional().Nillable().Comment("Why it was rejected, one sentence for the sender."),

		field.String("file_name").Immutable().Annotations(secret),
		field.Int64("size_bytes").Immutable().Annotations(wide),
		field.Bytes("sha256").Immutable().Annotations(secret),
		field.Int64("reserved_bytes").Annotations(wide).Comment("Its share of the budgets: original, preview and public copy; 0 once the bytes are gone."),
		field.String("media_type").Optional().Nillable(),
		field.Int("width").Optional().Nillable(),
		field.Int("height").Optional().Nillable(),
		field.Int("pages").Optional().Nillable(),
		field.Int64("preview_bytes").Optional().Nillable().Annotations(wide),
		field.Bytes("preview_sha256").Optional().Nillable().Annotations(secret),
		field.Int64("published_bytes").Optional().Nillable().Annotations(wide),
		field.Bytes("published_sha256").Optional().Nillable().Annotations(secret),
		field.String("published_type").Optional().Nillable().Comment("Media type of the public copy."),
		field.Time("published_at").Optional().Nillable().Comment("When the public copy was made."),

		field.Enum("bound_kind").NamedValues("Avatar", "avatar", "Character", "character", "Post", "post", "OrderInput", "order_input",
			"OrderDraft", "order_draft", "OrderResult", "order_result").Optional().Nillable(),
		field.UUID("bound_id", uuid.UUID{}).Optional().Nillable().Comment("The agent, post or order that uses it."),
		field.Int("position").Default(0).Comment("Its place among the files of the same agent, post or order."),
		field.Time("rights_confirmed_at").Optional().Nillable().Comment("When its owner first claimed the right to publish it."),
		field.Time("unbound_at").Optional().Nillable(),
		field.Time("deleted_at").Optional().Nillable().Comment("When its bytes were given up."),

		field.Int("attempts").Default(0).Annotations(secret).Comment("How many inspections were begun."),
		field.Time("queued_at").Annotations(secret).Comment("When its inspection was last asked for."),
		field.UUID("lease_id", uuid.UUID{}).Optional().Nillable().Annotations(secret).Comment("The inspection that runs, until lease_until unless renewed."),
		field.Time("lease_until").Optional().Nillable().Annotations(secret),
	}
}

func (Attachment) Edges() []ent.Edge {
	return []ent.Edge{edge.To("owner", Bot.Type).Field("owner_id").Unique().Required().Immutable()}
}

func (Attachment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("owner_id", "upload_id").Unique(),
		index.Fields("bound_id", "bound_kind", "position").Annotations(entsql.IndexWhere("bound_id IS NOT NULL")),
		index.Fields("queued_at").Annotations(entsql.IndexWhere("(status)::text = 'pending'::text")),
		index.Fields("created_at").Annotations(entsql.IndexWhere("reserved_bytes > 0")),
	}
}
