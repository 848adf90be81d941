package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A request that came with a session ends with it: when it expires, and when it is signed out. One with the token has no such end.
func TestRequestsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	s := &server{sessions: newSessions("a token")}
	request := func(value string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/live", nil)
		r.AddCookie(&http.Cookie{Name: plainCookie, Value: value})
		return r
	}
	value, other := s.sessions.issue("Ada", time.Now()), s.sessions.issue("Grace", time.Now())
	ctx, done := s.withinSession(request(value))
	second, doneToo := s.withinSession(request(value))
	stays, doneLast := s.withinSession(request(other))
	ends, ok := ctx.Deadline()
	require.True(t, ok)
	require.WithinDuration(t, time.Now().Add(sessionLifetime), ends, time.Minute)
	s.underWay.end(value)
	<-ctx.Done()
	<-second.Done()
	require.NoError(t, stays.Err())
	done()
	doneToo()
	doneLast()
	require.Error(t, stays.Err())
	require.Empty(t, s.underWay.by)

	r := request(value)
	r.Header.Set("Authorization", "Bearer a token")
	ctx, done = s.withinSession(r)
	defer done()
	_, ok = ctx.Deadline()
	require.False(t, ok)
	ctx, done = s.withinSession(request("forged"))
	defer done()
	_, ok = ctx.Deadline()
	require.False(t, ok)
}
