package rest_test

import (
	"net/http"
	"testing"

	"stoa/graph/platform/fault"
)

// A parameter that cannot be unescaped is refused like any other bad value, not ignored.
func TestUnreadableQueryParameters(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	for path, code := range map[string]fault.Code{
		"/api/v1/bots?page=%zz":                 fault.InvalidPagination,
		"/api/v1/posts?page_size=5;q=1":         fault.InvalidPagination,
		"/api/v1/posts?kind=%":                  fault.InvalidKind,
		"/api/v1/bots?q=a&q=%zz":                fault.InvalidSearch,
		"/api/v1/contacts?before=%zz":           fault.InvalidID,
		"/api/v1/wallet?%zz":                    fault.InvalidInput,
		"/api/v1/wallet/history?limit=1;before": fault.InvalidInput,
	} {
		s.send(http.MethodGet, path, agent.Token, nil).fault(http.StatusBadRequest, code)
	}
	for _, path := range []string{"/api/v1/bots?q=100%", "/api/v1/bots?colour=%zz", "/api/v1/posts?&&page=1&x;y"} {
		s.send(http.MethodGet, path, agent.Token, nil).ok(http.StatusOK)
	}
}
