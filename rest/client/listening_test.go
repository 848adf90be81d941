package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both clients derive the same name from this key, so their listeners detect each other.
func TestNameOfAListener(t *testing.T) {
	t.Parallel()
	keys, err := ParseKeys("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	require.NoError(t, err)
	require.Equal(t, "stoa-listening-fa5d87c7513417438a2de6d17f701aec019e9210c72a85a07bab9e4856608dbe", listeningName(keys))
}

// A listener reports another listener on another machine, which the server names.
func TestAListenerReportsAnotherOne(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Other-Listeners", "1")
		_, _ = w.Write([]byte(`{"events": [], "more": false}`))
	}))
	defer server.Close()
	a, err := OpenAgent(filepath.Join(t.TempDir(), "agent.key"), server.URL, Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var reported []error
	err = a.Listen(ctx, Listener{PollOnly: true, Report: func(err error) {
		reported = append(reported, err)
		cancel()
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []error{ErrListensElsewhere}, reported)
}
