package resttest_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/resttest"
)

const (
	grant   = `{"token":"stoa_zV0LoFKwQIPAmlplUX6pA7KQG1j0ZF6qZ1crTuTBGNb2Ujypt","token_expires_at":"2026-12-21T21:31:10.328312Z"}`
	refused = `{"error":{"code":"unauthorized","message":"No."}}`
	limited = `{"error":{"code":"write_limited","message":"No."}}`
)

var usual = http.Header{
	"X-Request-Id": {"1"}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-store"}, "Content-Type": {"application/json"},
}

func with(name, value string) http.Header {
	h := maps.Clone(usual)
	h[http.CanonicalHeaderKey(name)] = []string{value}
	return h
}

func without(name string) http.Header {
	h := maps.Clone(usual)
	delete(h, name)
	return h
}

// The error for an undescribed answer has route, status and JSON pointer.
func TestAnswersThatAreNotAsDescribed(t *testing.T) {
	t.Parallel()
	const rotate, order = "POST /api/v1/tokens/rotate", "GET /api/v1/orders/0190a5d4-7c1e-7000-8000-0123456789ab"
	for name, c := range map[string]struct {
		request string
		status  int
		header  http.Header
		body    string
		want    []string
	}{
		"as described":         {rotate, 200, usual, grant, nil},
		"with its limits":      {rotate, 200, with("RateLimit", `"mutations";r=119;t=60`), grant, nil},
		"a status":             {rotate, 201, usual, grant, []string{"POST /api/v1/tokens/rotate answered 201", "status is not described"}},
		"a template":           {order, 201, usual, "{}", []string{"GET /api/v1/orders/{order_id} answered 201"}},
		"a missing member":     {rotate, 200, usual, `{"token":"stoa_"}`, []string{"'token_expires_at'", "at '/token'"}},
		"a surplus member":     {rotate, 200, usual, strings.Replace(grant, "{", `{"more":1,`, 1), []string{"'more'"}},
		"an error code":        {rotate, 401, with("WWW-Authenticate", `Bearer realm="stoa"`), limited, []string{"answered 401", "at '/error/code'"}},
		"no challenge":         {rotate, 401, usual, refused, []string{"Www-Authenticate"}},
		"no Retry-After":       {rotate, 429, usual, limited, []string{"Retry-After"}},
		"a wrong Retry-After":  {rotate, 429, with("Retry-After", "0"), limited, []string{"Retry-After"}},
		"a Retry-After":        {rotate, 429, with("Retry-After", "7"), limited, nil},
		"no request id":        {rotate, 200, without("X-Request-Id"), grant, []string{"X-Request-Id"}},
		"may be kept":          {rotate, 200, with("Cache-Control", "max-age=1"), grant, []string{"Cache-Control"}},
		"a header":             {rotate, 200, with("X-Powered-By", "steam"), grant, []string{"X-Powered-By is not described"}},
		"limits where none":    {order, 404, with("RateLimit", `"a";r=1;t=1`), strings.Replace(refused, "unauthorized", "not_found", 1), []string{"Ratelimit"}},
		"another type":         {rotate, 200, with("Content-Type", "text/html"), "", []string{"text/html"}},
		"an unknown path":      {"GET /api/v1/nowhere", 404, usual, strings.Replace(refused, "unauthorized", "not_found", 1), nil},
		"served, but unknown":  {"GET /api/v1/nowhere", 200, usual, "{}", []string{"GET /api/v1/nowhere answered 200"}},
		"another method":       {"PUT /api/v1/wallet", 405, with("Allow", "GET, HEAD, OPTIONS"), strings.Replace(refused, "unauthorized", "method_not_allowed", 1), nil},
		"no Allow":             {"PUT /api/v1/wallet", 405, usual, strings.Replace(refused, "unauthorized", "method_not_allowed", 1), []string{"Allow"}},
		"HEAD has no body":     {"HEAD /api/v1/wallet", 200, usual, "", nil},
		"a body that has none": {"OPTIONS /api/v1/wallet", 204, with("Allow", "GET"), "{}", []string{"a body is not described"}},
		"a taken parameter":    {"GET /api/v1/tasks?page=1001", 200, usual, `{"tasks":[],"page":1,"page_size":20,"next_page":null}`, []string{"parameter page"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, target, _ := strings.Cut(c.request, " ")
			err := resttest.Load().Check(resttest.Exchange{
				Request: httptest.NewRequest(method, target, http.NoBody), Status: c.status, Header: c.header, Body: []byte(c.body),
			})
			if len(c.want) == 0 {
				require.NoError(t, err)
				return
			}
			for _, part := range c.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// A body that the server should have refused is a deviation, too. The check is safe for parallel requests.
func TestAcceptedRequestsThatAreNotDescribed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), usual)
		_, _ = w.Write([]byte(`{"quote":{"amount_minor":1,"fee_minor":0,"total_minor":1,"fee_bps":1000}}`))
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &resttest.Transport{Next: http.DefaultTransport, Description: resttest.Load()}}
	var group sync.WaitGroup
	for range 16 {
		for body, wrong := range map[string]string{`{"amount_minor":1}`: "", `{"amount_minor":0}`: "at '/amount_minor'", `{}`: "'amount_minor'"} {
			group.Go(func() {
				answer, err := client.Post(server.URL+"/api/v1/orders/quote", "application/json", strings.NewReader(body))
				if wrong != "" {
					if err == nil || !strings.Contains(err.Error(), wrong) {
						t.Errorf("%s: %v", body, err)
					}
					return
				}
				if err != nil {
					t.Errorf("%s: %v", body, err)
					return
				}
				_ = answer.Body.Close() // the test does not read the rest
			})
		}
	}
	group.Wait()
}

func TestFrames(t *testing.T) {
	t.Parallel()
	const id = "0190a5d4-7c1e-7000-8000-0123456789ab"
	for frame, wrong := range map[string]string{
		`{"type":"acked","event_id":"` + id + `"}`: "",
		`{"type":"event","event_id":"` + id + `","kind":"order.changed","payload":{"order_id":"` + id + `","status":"funded","version":2}}`: "",
		`{"type":"event","event_id":"` + id + `","kind":"order.changed","payload":{"order_id":"` + id + `","status":"paid","version":2}}`:   "not as described",
		`{"type":"event","event_id":"` + id + `","kind":"order.changed","payload":{"contact_id":"` + id + `"}}`:                             "not as described",
		`{"type":"welcome"}`: "not described",
		`welcome`:            "invalid",
	} {
		err := resttest.Frame([]byte(frame))
		if wrong == "" {
			require.NoError(t, err, frame)
			continue
		}
		require.ErrorContains(t, err, wrong, frame)
	}
}
