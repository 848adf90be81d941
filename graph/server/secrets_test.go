package server_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/viewer"
)

// sown holds one row of every entity, and its texts that operators must not see.
type sown struct {
	ids     map[string]uuid.UUID
	secrets []string
}

// sow fills a world.
func (s *site) sow() sown {
	out := sown{ids: make(map[string]uuid.UUID)}
	hide := func(values ...string) {
		for _, v := range values {
			out.secrets = append(out.secrets, v, base64.StdEncoding.EncodeToString([]byte(v)), hex.EncodeToString([]byte(v)))
		}
	}
	one, other := s.Agent(), s.Agent()
	hide(one.Token, other.Token, string(one.Key.PublicKey().Bytes()), "nonce-of-twenty-four-byte", "the ciphertext", "the title", "the description",
		"the result", "the dispute", "the refund", "the payload", "the hash of a code", "the hash of a token", "secret name.png", "the text of a response", "the text of a post", "ada.lovelace@example.org", "ada.lovelace",
		"/secret-path-of-a-webhook")
	low, high := one.ID, other.ID
	if high.String() < low.String() {
		low, high = high, low
	}
	for _, entity := range []string{"Contact", "Message", "Order", "Event", "Invitation", "Task", "Response", "Service", "Feedback", "Document", "Reward", "Mail", "Webhook", "WebhookDelivery", "Rating"} {
		out.ids[entity] = uuid.Must(uuid.NewV7())
	}
	s.Exec(`INSERT INTO contacts (id, created_at, updated_at, low_id, high_id, state, accepted_at, requester_id, recipient_id)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, 'accepted', stoa_now(), $2, $3)`, out.ids["Contact"], low, high)
	s.Exec(`INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce, ciphertext,
		sender_public_key, recipient_public_key, size_bytes, expires_at) VALUES ($1, stoa_now(), $2, $3, $4, $1, 'box-v1',
		'nonce-of-twenty-four-byte', 'the ciphertext', 'key', 'key', 14, stoa_now())`, out.ids["Message"], out.ids["Contact"], one.ID, other.ID)
	s.Exec(`INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, version, title, description,
		deadline, amount_minor, fee_minor, total_minor, fee_bps, result_text, dispute_reason, refund_reason)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $2, 'disputed', 5, 'the title', 'the description', stoa_now(), 100, 10, 110, 1000,
		'the result', 'the dispute', 'the refund')`, out.ids["Order"], one.ID, other.ID)
	s.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload) VALUES ($1, stoa_now(), $2, 'order.changed', 'the payload')`, out.ids["Event"], one.ID)
	s.Exec(`INSERT INTO invitations (id, created_at, code_hash, uses) VALUES ($1, stoa_now(), 'the hash of a code', 1)`, out.ids["Invitation"])
	s.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		VALUES ($1, stoa_now(), stoa_now(), $2, 'a task', 'to do', stoa_now(), 100, 10, 110, 1000)`, out.ids["Task"], one.ID)
	s.Exec(`INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor)
		VALUES ($1, stoa_now(), $2, $3, 'the text of a response', 90, 99)`,
		out.ids["Response"], out.ids["Task"], other.ID)
	s.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description) VALUES ($1, stoa_now(), stoa_now(), $2, 'a service', 'done')`,
		out.ids["Service"], one.ID)
	s.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text) VALUES ($1, stoa_now(), $2, 'idea', 'more')`, out.ids["Feedback"], one.ID)
	s.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text, subject_type, subject_id, subject_bot_id)
		VALUES (gen_random_uuid(), stoa_now(), $1, 'report', 'spam', 'bot', $2, $2)`, one.ID, other.ID)
	s.Exec(`INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor) VALUES ($1, stoa_now(), $2, 'avatar', 100000)`, out.ids["Reward"], one.ID)
	s.Exec(`INSERT INTO documents (id, created_at, key, title, version, url, text, sha256) VALUES ($1, stoa_now(), 'terms', 'Terms', '1', '', 'Be kind.', 'of it')`,
		out.ids["Document"])
	s.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, bot_id) VALUES ($1, stoa_now(), 'test', 'ada.lovelace@example.org',
		'a***@example.org', $2)`, out.ids["Mail"], one.ID)
	s.Exec(`INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing)
		VALUES ($1, stoa_now(), stoa_now(), $2, 'https://agent.example/secret-path-of-a-webhook', 'agent.example', '["order.changed"]', 'v1a')`,
		out.ids["Webhook"], one.ID)
	s.Exec(`INSERT INTO webhook_deliveries (id, created_at, webhook_id, event_id, kind, attempt)
		VALUES ($1, stoa_now(), $2, $1, 'order.changed', 1)`, out.ids["WebhookDelivery"], out.ids["Webhook"])
	s.Exec(`INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars, text) VALUES ($1, stoa_now(), $2, $3, $4, 5, 'well done')`,
		out.ids["Rating"], out.ids["Order"], one.ID, other.ID)
	s.Exec(`INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES ($1, stoa_now(), 'the hash of a token', stoa_now(), $2)`, uuid.Must(uuid.NewV7()), one.ID)

	ctx := viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	invited := graphtest.Got(s.Operator.CreateInvitation(ctx, operator.InvitationInput{}, "why"))(s.t)
	granted := graphtest.Got(s.Operator.ReissueToken(ctx, other.ID, "why"))(s.t)
	graphtest.OK(s.t)(s.Operator.ReviewOrder(ctx, out.ids["Order"], "why"))
	hide(invited.Code, string(invited.Invitation.CodeHash), granted.Token)

	out.ids["Post"] = s.Posted(one, "the text of a post", "private").ID
	out.ids["Attachment"] = s.File(one, attachments.Order)
	s.Exec("UPDATE attachments SET bound_kind = 'order_input', bound_id = $2 WHERE id = $1", out.ids["Attachment"], out.ids["Order"])
	file := graphtest.Got(s.DB.Ent.Attachment.Get(ctx, out.ids["Attachment"]))(s.t)
	hide(string(file.Sha256), file.UploadID.String())
	out.ids["Bot"] = one.ID
	out.ids["Account"] = graphtest.Got(s.DB.Ent.Account.Query().FirstID(ctx))(s.t)
	out.ids["LedgerEntry"] = graphtest.Got(s.DB.Ent.LedgerEntry.Query().FirstID(ctx))(s.t)
	out.ids["AuditEntry"] = graphtest.Got(s.DB.Ent.AuditEntry.Query().FirstID(ctx))(s.t)
	return out
}

func TestTheExplorerShowsNoSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sown := s.sow()
	listed := connections()
	require.Len(t, listed, len(sown.ids)+1, "reports are feedback, too")
	for _, field := range listed {
		a := s.ask(operatorToken, "{ "+field.Name+" "+everything(schema.Types[field.Type.Name()], 4)+" }", nil)
		require.NotEmpty(t, nodes(a.ok(field.Name)), field.Name)
		for _, secret := range sown.secrets {
			require.NotContains(t, string(a.raw), secret, field.Name)
		}
		for entity, id := range sown.ids {
			if field.Name != "reports" && schema.Types[field.Type.Name()].Name == entity+"Connection" {
				require.Contains(t, string(a.raw), id.String())
			}
		}
	}
}

// forbidden are names, or parts of names, of fields that no operator may see or filter by.
var forbidden = []string{
	"ciphertext", "nonce", "token", "hash", "code", "secret", "payload", "publickey", "title", "description", "resulttext", "disputereason",
	"refundreason", "requesthash", "lowid", "highid", "sequence", "filename", "sha256", "uploadid", "lease",
}

// public are fields with such names that hide nothing: the public text of moderated records, and the operators' own documents.
// (An agent's words about its character are on its public card.)
var public = map[string][]string{
	"Post":     {"title"},
	"Task":     {"title", "description"},
	"Service":  {"title", "description"},
	"Document": {"title", "sha256"},
}

func TestTheExplorersSchemaNamesNoSecret(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for name, field := range rootFields() {
		if who(field) != "operator" || strings.HasPrefix(name, "mutation ") {
			continue
		}
		for _, argument := range field.Arguments {
			walk(t, argument.Type.Name(), seen)
		}
		walk(t, field.Type.Name(), seen)
	}
	for _, entity := range schema.PossibleTypes["Node"] {
		require.True(t, seen[entity.Name], entity.Name)
	}
	require.Greater(t, len(seen), 60)
}

// walk checks a type and all types that can be reached from it.
func walk(t *testing.T, name string, seen map[string]bool) {
	t.Helper()
	if seen[name] {
		return
	}
	seen[name] = true
	definition := schema.Types[name]
	for _, field := range definition.Fields {
		plain := strings.ToLower(field.Name)
		for _, known := range append(public[strings.TrimSuffix(name, "WhereInput")], "characterdescription") {
			plain = strings.TrimPrefix(plain, known)
		}
		for _, part := range forbidden {
			require.NotContains(t, plain, part, "%s.%s", name, field.Name)
		}
		walk(t, field.Type.Name(), seen)
	}
	for _, implementor := range schema.PossibleTypes[name] {
		walk(t, implementor.Name, seen)
	}
	if definition.Kind == ast.Enum && strings.HasSuffix(name, "OrderField") {
		for _, value := range definition.EnumValues {
			for _, part := range forbidden {
				require.NotContains(t, strings.ReplaceAll(strings.ToLower(value.Name), "_", ""), part, name)
			}
		}
	}
}
