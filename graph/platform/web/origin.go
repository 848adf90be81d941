package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Origins holds the origins whose pages may use a listener from a browser.
type Origins struct {
	own     string
	allowed []string
}

// NewOrigins makes Origins from the listener's own origin, such as https://stoa.example, and other allowed origins, in which one
// * matches anything. own may be empty.
func NewOrigins(own string, allowed []string) Origins {
	o := Origins{allowed: allowed}
	if u, err := url.Parse(own); err == nil && u.Host != "" {
		o.own = normalOrigin(u)
	}
	return o
}

// Foreign reports whether a request comes from a browser page of an origin that is not allowed. It ignores the request's Host:
// with DNS rebinding, an attacker's page sends its own name in both headers. On a connection to a loopback address, pages of all
// loopback names of this machine are allowed, too.
func (o Origins) Foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		from, err := url.Parse(origin)
		own := err == nil && from.Host != "" && (normalOrigin(from) == o.own || isLoopback(from.Hostname()) && atLoopback(r))
		if !own && !o.isAllowed(strings.ToLower(origin)) {
			return true
		}
	}
	return false
}

// atLoopback reports whether a request came to a loopback address of this machine.
func atLoopback(r *http.Request) bool {
	address, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	host, _, err := net.SplitHostPort(address.String())
	return err == nil && isLoopback(host)
}

// isLoopback reports whether a host is a loopback address or localhost.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// normalOrigin formats an origin as browsers do: in lower case and without the scheme's default port.
func normalOrigin(u *url.URL) string {
	host, port := strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(host, port)
}

func (o Origins) isAllowed(origin string) bool {
	for _, pattern := range o.allowed {
		before, after, wild := strings.Cut(strings.ToLower(pattern), "*")
		if origin == before+after && !wild {
			return true
		}
		if wild && len(origin) >= len(before)+len(after) && strings.HasPrefix(origin, before) && strings.HasSuffix(origin, after) {
			return true
		}
	}
	return false
}
