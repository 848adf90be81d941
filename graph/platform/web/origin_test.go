package web_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/web"
)

// The base URL's origin and allowed origins are not foreign, nor is this machine on a connection to itself. Host does not matter.
func TestForeign(t *testing.T) {
	t.Parallel()
	origins := web.NewOrigins("https://Stoa.example:443", []string{"https://*.friends.example", "http://console.example"})
	for _, c := range []struct {
		origin, at string
		foreign    bool
	}{
		{"https://stoa.example", "192.0.2.1:443", false}, {"https://stoa.example:443", "192.0.2.1:443", false},
		{"http://stoa.example", "192.0.2.1:443", true}, {"https://stoa.example:8443", "192.0.2.1:443", true},
		{"https://best.friends.example", "192.0.2.1:443", false}, {"https://friends.example", "192.0.2.1:443", true},
		{"HTTP://Console.example", "192.0.2.1:443", false}, {"null", "127.0.0.1:80", true}, {"", "127.0.0.1:80", true},
		{"http://localhost:3000", "127.0.0.1:80", false}, {"http://LOCALHOST", "[::1]:80", false}, {"http://[::1]:80", "127.0.0.1:80", false},
		{"http://127.8.8.8", "127.0.0.1:80", false}, {"http://localhost", "192.0.2.1:80", true}, {"http://127.0.0.1", "10.0.0.1:80", true},
		{"http://localhost.evil.example", "127.0.0.1:80", true}, {"http://evil.example", "127.0.0.1:80", true},
		{"http://192.168.1.5", "127.0.0.1:80", true},
	} {
		address, err := net.ResolveTCPAddr("tcp", c.at)
		require.NoError(t, err)
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(address))
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		require.NoError(t, err)
		request.Header.Set("Origin", c.origin)
		require.Equal(t, c.foreign, origins.Foreign(request), "%s at %s", c.origin, c.at)
		request.Host = "evil.example"
		require.Equal(t, c.foreign, origins.Foreign(request), "%s at %s", c.origin, c.at)
	}
	plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	require.NoError(t, err)
	require.False(t, origins.Foreign(plain), "programs send no Origin")
	plain.Header.Set("Origin", "http://localhost")
	require.True(t, origins.Foreign(plain), "the address is not known")
}
