package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/server/session"
)

var begin = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestSessionLastsItsTime(t *testing.T) {
	t.Parallel()
	s := session.New("a token")
	value := s.Make("Ada “the first”", begin)
	require.NotContains(t, value, "token")
	for _, later := range []time.Duration{0, time.Hour, session.Lifetime - time.Second} {
		name, ok := s.Read(value, begin.Add(later))
		require.True(t, ok)
		require.Equal(t, "Ada “the first”", name)
	}
	_, ok := s.Read(value, begin.Add(session.Lifetime))
	require.False(t, ok)
	_, ok = session.New("a token").Read(value, begin)
	require.True(t, ok, "another process with the same token")
}

func TestSessionsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	value := session.New("a token").Make("Ada", begin)
	for _, token := range []string{"", "another", "a token "} {
		_, ok := session.New(token).Read(value, begin)
		require.False(t, ok, token)
	}
	_, ok := session.New("").Read(session.New("").Make("", begin), begin)
	require.False(t, ok, "without a token nobody is signed in")
}

func FuzzForgedSessions(f *testing.F) {
	s := session.New("a token")
	value := s.Make("Ada", begin)
	payload, signature, _ := strings.Cut(value, ".")
	for _, seed := range []string{"", ".", payload, signature, payload + ".", "." + signature, value + ".", value + "A", "A" + value, "e30." + signature} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, forged string) {
		if _, ok := s.Read(forged, begin); ok {
			sent, _, _ := strings.Cut(forged, ".")
			require.Equal(t, payload, sent)
		}
	})
}
