package server

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/viewer"
)

var begin = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestSessionLastsItsTime(t *testing.T) {
	t.Parallel()
	s := newSessions("a token")
	value := s.issue(viewer.Viewer{Name: "Ada “the first”"}, begin)
	require.NotContains(t, value, "token")
	for _, later := range []time.Duration{0, time.Hour, sessionLifetime - time.Second} {
		claims, ok := s.verify(value, begin.Add(later))
		require.True(t, ok)
		require.Equal(t, "Ada “the first”", claims.Name)
		require.Equal(t, begin.Add(sessionLifetime).Unix(), claims.Expires)
	}
	_, ok := s.verify(value, begin.Add(sessionLifetime))
	require.False(t, ok)
	_, ok = newSessions("a token").verify(value, begin)
	require.True(t, ok, "another process with the same token")
}

func TestSessionsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	value := newSessions("a token").issue(viewer.Viewer{Name: "Ada"}, begin)
	for _, token := range []string{"", "another", "a token "} {
		_, ok := newSessions(token).verify(value, begin)
		require.False(t, ok, token)
	}
	_, ok := newSessions("").verify(newSessions("").issue(viewer.Viewer{}, begin), begin)
	require.False(t, ok, "without a token nobody is signed in")
}

func FuzzForgedSessions(f *testing.F) {
	s := newSessions("a token")
	value := s.issue(viewer.Viewer{Name: "Ada"}, begin)
	payload, signature, _ := strings.Cut(value, ".")
	for _, seed := range []string{"", ".", payload, signature, payload + ".", "." + signature, value + ".", value + "A", "A" + value, "e30." + signature} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, forged string) {
		if _, ok := s.verify(forged, begin); ok {
			sent, _, _ := strings.Cut(forged, ".")
			require.Equal(t, payload, sent)
		}
	})
}
