package rest

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/web"
)

// Row describes one route of the table, for tests.
type Row struct {
	Method, Path string
	Status       int
	// Anyone and Readers define who may call; if neither is set, agents only.
	Anyone, Readers bool
	// Body is the media type of the request body, empty for none; Empty is true if the body may be left out.
	Body  string
	Empty bool
}

// Rows returns the table of routes, with the paths of the listener.
func Rows(g *graph.Graph) []Row {
	media := map[bodyUse]string{jsonBody: "application/json", optionalJSONBody: "application/json", formBody: "multipart/form-data"}
	var rows []Row
	for _, r := range routes(g) {
		rows = append(rows, Row{
			Method: r.method, Path: "/api/v1" + r.path, Status: r.status, Anyone: r.token == tokenIgnored,
			Readers: r.token == tokenOptional, Body: media[r.body], Empty: r.body == optionalJSONBody,
		})
	}
	return rows
}

// ToolsPath is toolsPath.
const ToolsPath = toolsPath

// Pages returns the paths that New serves besides the table.
func Pages() []string {
	s := &server{Config: Config{Graph: new(graph.Graph)}}
	paths := []string{"/healthz", "/readyz", SocketPath}
	for path := range s.descriptions() {
		if strings.HasSuffix(path, "/*") {
			continue // OpenAPI cannot describe any number of segments
		}
		paths = append(paths, path)
	}
	return paths
}

func TestRangeOf(t *testing.T) {
	t.Parallel()
	const size = 100
	for sent, want := range map[string]string{
		"bytes=0-9":                        "bytes=0-9",
		"Bytes= 0-9 ,\t5-":                 "bytes=0-9,5-99",
		"bytes=90-1000":                    "bytes=90-99",
		"bytes=90-99999999999999999999999": "bytes=90-99",
		"bytes=-5":                         "bytes=95-99",
		"bytes=-500":                       "bytes=0-99",
		"bytes=-0":                         "bytes=100-",
		"bytes=-0,1-1":                     "bytes=1-1",
		"bytes=100-":                       "bytes=100-",
		"bytes=99999999999999999999999-":   "bytes=100-",
		"bytes=200-300,1-2":                "bytes=1-2",
		"bytes=0007-0008":                  "bytes=7-8",
		"bytes=9-09":                       "bytes=9-9",
		"bytes=007-10":                     "bytes=7-10",
		"bytes=5-2":                        "",
		"bytes=0-1,5-2":                    "",
		"bytes=20000000000000000000-9":     "",
		"bytes=":                           "",
		"bytes=-":                          "",
		"bytes=a-b":                        "",
		"bytes=1":                          "",
		"bytes=+1-2":                       "",
		"pages=1-2":                        "",
		"bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8": "",
	} {
		for method, want := range map[string]string{http.MethodGet: want, http.MethodHead: ""} {
			r := httptest.NewRequest(method, "/", http.NoBody)
			r.Header.Set("Range", sent)
			require.Equal(t, want, satisfiableRanges(r, size), "%s %s", method, sent)
		}
	}
}

// http.ServeContent accepts any result of satisfiableRanges, and refuses it only if no byte of the file was requested.
func FuzzRangeOf(f *testing.F) {
	for _, sent := range []string{"bytes=0-9", "bytes=-5,3-", "bytes=5-2", "bytes=200-", "bytes=-0"} {
		f.Add(sent)
	}
	content := strings.Repeat("x", 100)
	f.Fuzz(func(t *testing.T, sent string) {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header["Range"] = []string{sent}
		ranges := satisfiableRanges(r, int64(len(content)))
		want := map[int]bool{http.StatusPartialContent: true, http.StatusOK: true} // 200 if overlapping ranges are longer than the file
		switch ranges {
		case "":
			want = map[int]bool{http.StatusOK: true}
			r.Header.Del("Range")
		case "bytes=100-":
			want = map[int]bool{http.StatusRequestedRangeNotSatisfiable: true}
			fallthrough
		default:
			r.Header.Set("Range", ranges)
		}
		w := httptest.NewRecorder()
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
		require.Contains(t, want, w.Code, "%q became %q", sent, ranges)
	})
}

// Decoding unreserved characters keeps the meaning of a path, and a second decoding changes nothing.
func FuzzDecodeUnreserved(f *testing.F) {
	for _, path := range []string{"/w%61llet", "/%2F%2f", "/%25%36%31", "/%C3%A9/%7E"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		meant, err := url.PathUnescape(path)
		if err != nil {
			t.Skip()
		}
		decoded := decodePlain(path)
		require.Equal(t, meant, graphtest.Got(url.PathUnescape(decoded))(t))
		require.Equal(t, decoded, decodePlain(decoded))
	})
}

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
		request := graphtest.Got(http.NewRequest(row.method, server.URL+"/api/v1"+path, strings.NewReader("{}")))(t)
		request.Header.Set("Content-Type", "application/json")
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		defer response.Body.Close()
		raw := graphtest.Got(io.ReadAll(response.Body))(t)
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
				require.Equal(t, `"registrations_per_address";q=1000;w=3600, "registrations";q=1000;w=3600`, header.Get("RateLimit-Policy"))
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
