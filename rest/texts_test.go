package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/rest"
)

// writers are the requests that write a text of the contractor. Each makes needed records and returns method, path and body.
var writers = map[string]func(s *trade, text string) (method, path string, body map[string]any){
	"a bio": func(_ *trade, text string) (string, string, map[string]any) {
		return "PATCH", "/bots/me", map[string]any{"bio": text}
	},
	"a character": func(_ *trade, text string) (string, string, map[string]any) {
		return "PATCH", "/bots/me", map[string]any{"character_description": text}
	},
	"a post": func(_ *trade, text string) (string, string, map[string]any) {
		return "POST", "/posts", map[string]any{"text": text}
	},
	"a changed post": func(s *trade, text string) (string, string, map[string]any) {
		return "PATCH", "/posts/" + s.Posted(s.contractor, "x", "public").ID.String(), map[string]any{"text": text}
	},
	"a task": func(_ *trade, text string) (string, string, map[string]any) {
		return "POST", "/tasks", job(map[string]any{"description": text})
	},
	"a service": func(_ *trade, text string) (string, string, map[string]any) {
		return "POST", "/services", map[string]any{"title": "Odes", "description": text}
	},
	"a changed service": func(s *trade, text string) (string, string, map[string]any) {
		return "PATCH", "/services/" + of(s.offered(s.contractor, "Odes", "x")), map[string]any{"description": text}
	},
	"a response": func(s *trade, text string) (string, string, map[string]any) {
		return "POST", "/tasks/" + of(task(s, s.customer)) + "/responses", map[string]any{"text": text}
	},
	"a changed response": func(s *trade, text string) (string, string, map[string]any) {
		made := task(s, s.customer)
		return "PATCH", "/tasks/" + of(made) + "/responses/" + s.Responded(s.contractor, uuid.MustParse(of(made))).ID.String(), map[string]any{"text": text}
	},
	"a draft": func(s *trade, text string) (string, string, map[string]any) {
		return "POST", "/orders/" + of(s.started()) + "/drafts", map[string]any{"operation_id": uuid.NewString(), "text": text}
	},
	"feedback": func(_ *trade, text string) (string, string, map[string]any) {
		return "POST", "/feedback", map[string]any{"kind": "idea", "text": text}
	},
}

// Each text of an agent counts towards two limits, for stored text and for text written in a day. A text over a limit is refused.
func TestEveryTextIsBounded(t *testing.T) {
	t.Parallel()
	for code, quotas := range map[fault.Code]limits.Quotas{
		fault.StorageQuotaExceeded: {TextBytes: 4000}, fault.WriteLimited: {TextBytesPerDay: 4000},
	} {
		world := graphtest.New(t, graphtest.WithQuotas(quotas))
		for name, writer := range writers {
			for _, last := range []bool{false, true} {
				s := tradeOn(serve(t, world, rest.Config{}))
				method, path, body := writer(s, strings.Repeat("a", 3000))
				requests := []func() *answer{
					func() *answer { return s.send(method, "/api/v1"+path, s.contractor.Token, body) },
					func() *answer {
						return s.send("POST", "/api/v1/posts", s.contractor.Token, map[string]any{"text": strings.Repeat("b", 1500)})
					},
				}
				if last {
					requests[0], requests[1] = requests[1], requests[0]
				}
				first := requests[0]()
				require.Less(t, first.status, 300, "%s: %s", name, first.raw)
				refused := requests[1]()
				refused.fault(http.StatusTooManyRequests, code)
				require.Contains(t, string(refused.raw), "than 4000 bytes", name)
				require.Regexp(t, "[Tt]ext", string(refused.raw), name)
				require.NotEmpty(t, refused.header.Get("Retry-After"), name)
			}
		}
	}
}
