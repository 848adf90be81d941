package web_test

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

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
