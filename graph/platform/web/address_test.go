package web_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

func request(peer string, headers ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

var proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}

func TestTheClientsAddress(t *testing.T) {
	t.Parallel()
	const forwarded = "X-Forwarded-For"
	for name, c := range map[string]struct {
		request *http.Request
		trusted []netip.Prefix
		want    string
	}{
		"the connection":            {request("192.0.2.7:1234"), nil, "192.0.2.7"},
		"IPv6 by /64":               {request("[2001:db8:1:2:3:4:5:6]:1234"), nil, "2001:db8:1:2::/64"},
		"IPv4 in IPv6":              {request("[::ffff:192.0.2.7]:1234"), nil, "192.0.2.7"},
		"a zone":                    {request("[fe80::1%eth0]:1234"), nil, "fe80::/64"},
		"no address":                {request("pipe"), proxies, "pipe"},
		"nobody is trusted":         {request("10.0.0.1:1", forwarded, "192.0.2.7"), nil, "10.0.0.1"},
		"a stranger says":           {request("192.0.2.9:1", forwarded, "192.0.2.7"), proxies, "192.0.2.9"},
		"a proxy says":              {request("10.0.0.1:1", forwarded, "192.0.2.7"), proxies, "192.0.2.7"},
		"a proxy says nothing":      {request("10.0.0.1:1"), proxies, "10.0.0.1"},
		"a proxy says nonsense":     {request("10.0.0.1:1", forwarded, "unknown"), proxies, "10.0.0.1"},
		"the client lies":           {request("10.0.0.1:1", forwarded, "198.51.100.1, 192.0.2.7"), proxies, "192.0.2.7"},
		"the client lies apart":     {request("10.0.0.1:1", forwarded, "198.51.100.1", forwarded, "192.0.2.7"), proxies, "192.0.2.7"},
		"the client claims a proxy": {request("10.0.0.1:1", forwarded, "198.51.100.1, 10.9.9.9, 192.0.2.7"), proxies, "192.0.2.7"},
		"two proxies":               {request("10.0.0.1:1", forwarded, "198.51.100.1, 192.0.2.7, 10.0.0.2"), proxies, "192.0.2.7"},
		"IPv6 proxies":              {request("[fd00::1]:1", forwarded, "2001:db8::1, fd00::2"), proxies, "2001:db8::/64"},
		"with a port":               {request("10.0.0.1:1", forwarded, "192.0.2.7:5678"), proxies, "192.0.2.7"},
		"IPv6 with a port":          {request("10.0.0.1:1", forwarded, "[2001:db8::1]:5678"), proxies, "2001:db8::/64"},
	} {
		require.Equal(t, c.want, web.ClientAddress(c.request, c.trusted), name)
	}
}

func TestWhetherTheClientSpeaksHTTPS(t *testing.T) {
	t.Parallel()
	const proto = "X-Forwarded-Proto"
	direct := request("192.0.2.7:1")
	direct.TLS = new(tls.ConnectionState)
	for name, c := range map[string]struct {
		request *http.Request
		want    bool
	}{
		"TLS here":              {direct, true},
		"plain":                 {request("192.0.2.7:1"), false},
		"a stranger says so":    {request("192.0.2.7:1", proto, "https"), false},
		"a proxy says so":       {request("10.0.0.1:1", proto, "https"), true},
		"a proxy shouts":        {request("[fd00::1]:1", proto, "HTTPS"), true},
		"a proxy says http":     {request("10.0.0.1:1", proto, "http"), false},
		"the first of a chain":  {request("10.0.0.1:1", proto, "https, http"), true},
		"only the last of them": {request("10.0.0.1:1", proto, "http, https"), false},
	} {
		require.Equal(t, c.want, web.Secure(c.request, proxies), name)
	}
}

// Behind one proxy, the client's own address counts, whatever the client writes into the header.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"", "10.0.0.1", "192.0.2.1, 10.1.1.1", "[::1]:80", ",,", "fe80::1%x", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, claimed string) {
		r := request("10.0.0.1:1", "X-Forwarded-For", claimed, "X-Forwarded-For", "192.0.2.7")
		require.Equal(t, "192.0.2.7", web.ClientAddress(r, proxies))
	})
}

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
		address := net.Addr(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.at)))
		request := httptest.NewRequest(http.MethodGet, "/", http.NoBody).WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, address))
		request.Header.Set("Origin", c.origin)
		require.Equal(t, c.foreign, origins.Foreign(request), "%s at %s", c.origin, c.at)
		request.Host = "evil.example"
		require.Equal(t, c.foreign, origins.Foreign(request), "%s at %s", c.origin, c.at)
	}
	plain := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	require.False(t, origins.Foreign(plain), "programs send no Origin")
	plain.Header.Set("Origin", "http://localhost")
	require.True(t, origins.Foreign(plain), "the address is not known")
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	const tag = `"x"`
	modified := time.Date(2026, 11, 21, 2, 3, 4, 5000, time.UTC)
	at := func(offset time.Duration) string { return modified.Add(offset).Format(http.TimeFormat) }
	const passed, failed, known = http.StatusOK, http.StatusPreconditionFailed, http.StatusNotModified
	for _, c := range []struct {
		match, unmodified, none string
		want                    int
	}{
		{want: passed},
		{match: tag, want: passed},
		{match: "*", want: passed},
		{match: `"a", "x"`, want: passed},
		{match: `"a"`, want: failed},
		{match: `W/"x"`, want: failed}, // a strong comparison
		{match: `x`, want: failed},
		{unmodified: at(0), want: passed},
		{unmodified: at(time.Hour), want: passed},
		{unmodified: at(-time.Second), want: failed},
		{unmodified: "yesterday", want: passed}, // not a date, so it is ignored
		{match: tag, unmodified: at(-time.Hour), want: passed},
		{none: tag, want: known},
		{none: `W/"x"`, want: known},
		{none: `"a", "x"`, want: known},
		{none: "*", want: known},
		{none: `"a"`, want: passed},
		{match: `"a"`, none: tag, want: failed},
		{match: tag, none: tag, want: known},
		{unmodified: at(-time.Hour), none: tag, want: failed},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		for name, value := range map[string]string{"If-Match": c.match, "If-Unmodified-Since": c.unmodified, "If-None-Match": c.none} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		has, err := web.Precondition(r, tag, modified)
		got := passed
		switch {
		case err != nil:
			require.Equal(t, fault.PreconditionFailed, fault.From(err).Code)
			got = failed
		case has:
			got = known
		}
		require.Equal(t, c.want, got, "%+v", c)
	}
}
