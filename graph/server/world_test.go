package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/server"
	"stoa/rest"
	"stoa/rest/resttest"
)

const operatorToken = "the-operator-token-of-these-tests-only"

// site is both listeners over one world.
type site struct {
	*graphtest.World
	rest, graphql string
	log           bytes.Buffer
	draining      atomic.Bool
	t             testing.TB
}

func newSite(t testing.TB, options ...graphtest.Option) *site {
	t.Helper()
	s := &site{World: graphtest.New(t, options...), t: t}
	public := httptest.NewServer(rest.New(rest.Config{Graph: s.Graph, Draining: &s.draining, Logger: slog.New(slog.DiscardHandler)}))
	t.Cleanup(public.Close)
	operators := httptest.NewServer(server.New(server.Config{
		Graph: s.Graph, OperatorToken: operatorToken, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
	}))
	t.Cleanup(operators.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	s.rest, s.graphql = public.URL, operators.URL
	return s
}

// answer is a response read to its end.
type answer struct {
	status int
	header http.Header
	raw    []byte
	Data   map[string]any `json:"data"`
	Errors []failure      `json:"errors"`
	t      testing.TB
}

type failure struct {
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code       fault.Code        `json:"code"`
		Fields     map[string]string `json:"fields"`
		RetryAfter int               `json:"retryAfter"`
	} `json:"extensions"`
}

type vars map[string]any

// ask sends a document; a token of "" makes an anonymous request.
func (s *site) ask(token, query string, v vars, headers ...string) *answer {
	return s.post(token, string(graphtest.Got(json.Marshal(map[string]any{"query": query, "variables": v}))(s.t)), headers...)
}

// post sends a body unchanged.
func (s *site) post(token, body string, headers ...string) *answer {
	request := graphtest.Got(http.NewRequest(http.MethodPost, s.graphql+server.Path, bytes.NewReader([]byte(body))))(s.t)
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return s.do(request)
}

func (s *site) do(request *http.Request) *answer {
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw := graphtest.Got(io.ReadAll(response.Body))(s.t)
	a := &answer{status: response.StatusCode, header: response.Header, raw: raw, t: s.t}
	require.NoError(s.t, json.Unmarshal(raw, a), "%s", raw)
	if request.Header.Get("Accept") == "" {
		require.Equal(s.t, "application/json", a.header.Get("Content-Type"))
	}
	require.NotEmpty(s.t, a.header.Get("X-Request-Id"))
	return a
}

// ok requires an answer without errors and returns one root field of it.
func (a *answer) ok(field string) map[string]any {
	require.Equal(a.t, http.StatusOK, a.status, "%s", a.raw)
	require.Empty(a.t, a.Errors, "%s", a.raw)
	value, ok := a.Data[field].(map[string]any)
	require.True(a.t, ok, "%s", a.raw)
	return value
}

// fault requires exactly one error with this code, and returns it.
func (a *answer) fault(status int, code fault.Code) failure {
	require.Equal(a.t, status, a.status, "%s", a.raw)
	require.Len(a.t, a.Errors, 1, "%s", a.raw)
	require.Equal(a.t, code, a.Errors[0].Extensions.Code, "%s", a.raw)
	require.NotEmpty(a.t, a.Errors[0].Message)
	return a.Errors[0]
}

// TestMain checks REST's answers of twins against the API description.
func TestMain(m *testing.M) { os.Exit(resttest.Main(m, resttest.API)) }

// everything selects all fields of a type without arguments, and fields of inner objects down to levels.
func everything(of *ast.Definition, levels int) string {
	var fields []string
	for _, field := range of.Fields {
		inner := schema.Types[field.Type.Name()]
		switch {
		case len(field.Arguments) > 0, strings.HasPrefix(field.Name, "__"):
		case inner.IsLeafType():
			fields = append(fields, field.Name)
		case levels > 0 && len(inner.Fields) > 0:
			fields = append(fields, field.Name+" "+everything(inner, levels-1))
		}
	}
	return "{ " + strings.Join(fields, " ") + " }"
}

// connections are the root fields that list an entity.
func connections() []*ast.FieldDefinition {
	var all []*ast.FieldDefinition
	for _, field := range schema.Query.Fields {
		if strings.HasSuffix(field.Type.Name(), "Connection") {
			all = append(all, field)
		}
	}
	return all
}
