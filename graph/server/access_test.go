package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/server"
)

var schema = exec.NewExecutableSchema(exec.Config{}).Schema()

// samples are literals for the types of all required arguments and input fields.
var samples = map[string]string{
	"ID": `"019b0000-abcd-7000-8000-00000000000f"`, "String": `"why not"`, "Int": "1", "Int64": "1", "OrderAction": `"start"`, "MaintenanceTask": "RECONCILE", "Boolean": "true",
	"KeyPurpose":  "LOG",
	"ContentKind": "POSTS",
}

// sample writes the shortest valid value of a type.
func sample(t *testing.T, of *ast.Type) string {
	t.Helper()
	definition := schema.Types[of.Name()]
	if definition.Kind != ast.InputObject {
		require.Contains(t, samples, of.Name())
		return samples[of.Name()]
	}
	var fields []string
	for _, field := range definition.Fields {
		if field.Type.NonNull {
			fields = append(fields, field.Name+": "+sample(t, field.Type))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// call writes the shortest valid use of a root field.
func call(t *testing.T, field *ast.FieldDefinition) string {
	t.Helper()
	var arguments []string
	for _, argument := range field.Arguments {
		if argument.Type.NonNull && argument.DefaultValue == nil {
			arguments = append(arguments, argument.Name+": "+sample(t, argument.Type))
		}
	}
	text := field.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	return text + " { __typename }"
}

// who returns who may call a field. It follows from the declaring domain: explorer and procedures belong to operators, every
// other domain's operations to agents, and a few to both.
func who(field *ast.FieldDefinition) string {
	shared := []string{
		"registerBot", "attachment", "serviceCatalogue", "service", "taskBoard", "task", "registrationRequirements",
		"requestRegistrationEmail", "verifyRegistrationEmail", "requestRestore",
	}
	switch source := field.Position.Src.Name; {
	case slices.Contains(shared, field.Name):
		return "both"
	case source == "../ent.graphql", strings.HasPrefix(source, "../operator/"):
		return "operator"
	default:
		return "agent"
	}
}

func rootFields() map[string]*ast.FieldDefinition {
	all := make(map[string]*ast.FieldDefinition)
	for kind, root := range map[string]*ast.Definition{"query": schema.Query, "mutation": schema.Mutation} {
		for _, field := range root.Fields {
			if !strings.HasPrefix(field.Name, "__") {
				all[kind+" "+field.Name] = field
			}
		}
	}
	return all
}

func TestEveryFieldIsForItsCallersOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)))
	tokens := map[string]string{"nobody": "", "agent": s.Agent().Token, "operator": operatorToken}
	require.Greater(t, len(rootFields()), 20)
	for name, field := range rootFields() {
		kind, _, _ := strings.Cut(name, " ")
		for caller, token := range tokens {
			t.Run(fmt.Sprintf("%s by %s", name, caller), func(t *testing.T) {
				a := s.ask(token, kind+" { "+call(t, field)+" }", nil)
				refused := len(a.Errors) > 0 && a.Errors[0].Extensions.Code == fault.Unauthorized
				if caller == "nobody" {
					a.fault(401, fault.Unauthorized)
					return
				}
				require.Equal(t, who(field) != caller && who(field) != "both", refused, "%s", a.raw)
				for _, e := range a.Errors {
					require.NotEqual(t, fault.InternalError, e.Extensions.Code, "%s", a.raw)
				}
			})
			if name == "mutation revokeToken" || name == "mutation rotateToken" {
				tokens["agent"] = s.Agent().Token
			}
		}
	}
	require.Empty(t, s.log.String())
}

func TestWhatTokensOpen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()
	const settings, me = "{ settings { feeBps } }", "{ me { bot { id } } }"
	s.ask(operatorToken, settings, nil).ok("settings")
	s.ask(operatorToken+"x", settings, nil).fault(401, fault.Unauthorized)
	s.ask(operatorToken[1:], settings, nil).fault(401, fault.Unauthorized)
	s.ask(strings.Repeat("s", 100_00), settings, nil).fault(401, fault.Unauthorized)
	for _, header := range []string{"Basic " + operatorToken, "Bearer", "Bearer ", operatorToken} {
		s.ask("", settings, nil, "Authorization", header).fault(401, fault.Unauthorized)
	}
	require.Equal(t, agent.ID.String(), s.ask(agent.Token, me, nil).ok("me")["bot"].(map[string]any)["id"])
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", agent.ID)
	s.ask(agent.Token, me, nil).fault(403, fault.Forbidden)
}

// A request without any token is 401 before anything else of it is read.
func TestNothingIsReadWithoutAToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	register := marshal(t, map[string]any{
		"query":     `mutation ($key: Base64) { registerBot(input: {handle: "guest", displayName: "Guest", encryptionPublicKey: $key}) { token } }`,
		"variables": map[string]any{"key": s.Agent().PublicKey()},
	})
	before := s.Count("SELECT count(*) FROM bots")
	for name, body := range map[string]string{
		"registration": string(register), "introspection": `{"query": "{ __schema { types { name } } }"}`, "the board": `{"query": "{ taskBoard { tasks { id } } }"}`,
		"nothing": "", "nonsense": "[}", "no query": "{}", "a broken query": `{"query": "{"}`, "an unknown field": `{"query": "{ setings }"}`,
	} {
		a := s.post("", body)
		a.fault(401, fault.Unauthorized)
		require.Equal(t, `Bearer realm="stoa"`, a.header.Get("WWW-Authenticate"), name)
		require.Empty(t, a.header.Get("RateLimit"), name)
		s.post("", body, "Content-Type", "text/plain").fault(401, fault.Unauthorized)
		guess := s.post("guess", body, "Content-Type", "text/plain")
		guess.fault(401, fault.Unauthorized)
		require.Equal(t, `Bearer realm="stoa", error="invalid_token"`, guess.header.Get("WWW-Authenticate"), name)
		s.post("", body, "Cookie", "stoa_operator=forged").fault(401, fault.Unauthorized)
	}
	require.Equal(t, before, s.Count("SELECT count(*) FROM bots"))

	request, err := http.NewRequest(http.MethodPost, s.graphql+server.Path, neverEnding{t.Context()})
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	s.do(request).fault(401, fault.Unauthorized)
}

// neverEnding is a body that never comes.
type neverEnding struct{ ctx context.Context }

func (n neverEnding) Read([]byte) (int, error) {
	<-n.ctx.Done()
	return 0, n.ctx.Err()
}
