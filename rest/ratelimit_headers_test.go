package rest

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/web"
)

var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

// limitedElsewhere lists changes without a token whose limits do not count the request, with the reason.
var limitedElsewhere = map[string]string{
	"/registration/email/request": "challenges are counted, not requests",
	"/registration/email/verify":  "a challenge ends with the fifth wrong code",
	"/bots/restore/request":       "requests that are well-formed are counted",
}

// A route with a limit per agent or address has the headers in every answer; other routes never have them.
func TestEveryLimitedRouteHasTheHeaders(t *testing.T) {
	t.Parallel()
	world := graphtest.New(t, graphtest.WithMail(new(graphtest.Mailbox)),
		graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 1, RegistrationsPerAddressPerHour: 1000, RegistrationsPerHour: 1000}))
	server := httptest.NewServer(New(Config{Graph: world.Graph, Draining: new(atomic.Bool), Logger: slog.New(slog.DiscardHandler)}))
	t.Cleanup(server.Close)
	send := func(row route, token string) (int, http.Header, fault.Code) {
		path := parameter.ReplaceAllLiteralString(row.path, uuid.NewString())
		request, err := http.NewRequest(row.method, server.URL+"/api/v1"+path, strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		defer response.Body.Close()
		raw, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		var failed web.ErrorBody
		require.NoError(t, json.Unmarshal(raw, &failed))
		return response.StatusCode, response.Header, failed.Error.Code
	}
	rows := routes(world.Graph)
	agents := make([]*graphtest.Agent, len(rows))
	for i := range agents {
		agents[i] = world.Agent()
	}
	world.RequireOwners()
	for i, row := range rows {
		t.Run(row.method+" "+row.path, func(t *testing.T) {
			t.Parallel()
			agent := agents[i]
			status, header, code := send(row, agent.Token)
			if row.path != "/events/stream" { // this listener has no event channel
				require.Less(t, status, 500, code)
			}
			switch {
			case row.limit != nil:
				require.Contains(t, header.Get("RateLimit-Policy"), `"registrations_per_address";q=1000;w=3600`)
				require.Contains(t, header.Get("RateLimit"), `"registrations_per_address";r=`)
				return
			case row.method == http.MethodGet || row.uncounted || limitedElsewhere[row.path] != "":
				require.Empty(t, header.Values("RateLimit"))
				require.Empty(t, header.Values("RateLimit-Policy"))
				return
			}
			require.NotEqual(t, tokenIgnored, row.token, "a change by anyone needs a limit of its own")
			require.NotEqual(t, tokenOptional, row.token, "who may come without a token may not change anything")
			require.Equal(t, `"mutations";q=1;w=60`, header.Get("RateLimit-Policy"))
			require.Regexp(t, `^"mutations";r=0;t=\d+$`, header.Get("RateLimit"))
			if strings.HasPrefix(row.path, "/tokens/") {
				return // the request has ended the token
			}
			status, header, code = send(row, agent.Token)
			require.Equal(t, http.StatusTooManyRequests, status)
			require.Equal(t, fault.WriteLimited, code)
			require.Regexp(t, `^[1-9]\d*$`, header.Get("Retry-After"))
			require.Equal(t, `"mutations";q=1;w=60`, header.Get("RateLimit-Policy"))
			require.Regexp(t, `^"mutations";r=0;t=\d+$`, header.Get("RateLimit"))
		})
	}
}
