package server_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/graphtest"
	"stoa/graph/operator"
)

// sown holds one row of every entity, and its texts that operators must not see.
type sown struct {
	ids     map[string]uuid.UUID
	secrets []string
}

// sow fills a world.
func (s *site) sow() sown {
	one, other := s.Agent(), s.Agent()
	out := sown{ids: s.Everything(one, other, "a public text")}
	s.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text, subject_type, subject_id, subject_bot_id)
		VALUES (gen_random_uuid(), stoa_now(), $1, 'report', 'spam', 'bot', $2, $2)`, one.ID, other.ID)
	ctx := ada(s.t)
	invited := graphtest.Got(s.Operator.CreateInvitation(ctx, operator.InvitationInput{}, "why"))(s.t)
	granted := graphtest.Got(s.Operator.ReissueToken(ctx, other.ID, "why"))(s.t)
	graphtest.OK(s.t)(s.Operator.ReviewOrder(ctx, out.ids["Order"], "why"))
	out.ids["Post"] = s.Posted(one, "zq-secret-post", "private").ID
	out.ids["Account"] = graphtest.Got(s.DB.Ent.Account.Query().FirstID(ctx))(s.t)
	out.ids["LedgerEntry"] = graphtest.Got(s.DB.Ent.LedgerEntry.Query().FirstID(ctx))(s.t)
	out.ids["AuditEntry"] = graphtest.Got(s.DB.Ent.AuditEntry.Query().FirstID(ctx))(s.t)
	file := graphtest.Got(s.DB.Ent.Attachment.Get(ctx, out.ids["Attachment"]))(s.t)
	for _, secret := range []string{
		"zq-secret", "secret name.png", one.Token, other.Token, string(one.Key.PublicKey().Bytes()), invited.Code, string(invited.Invitation.CodeHash), granted.Token,
		string(file.Sha256), file.UploadID.String(),
	} {
		out.secrets = append(out.secrets, secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)))
	}
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
