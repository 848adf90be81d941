package web

import (
	"net/http"
	"net/url"
	"strings"
)

// Origins are the pages that may use a listener from a browser.
type Origins struct {
	own     string
	allowed []string
}

// NewOrigins returns the listener's own origin, such as https://stoa.example, and the others that are allowed, in which one * stands for
// anything. own may be empty.
func NewOrigins(own string, allowed []string) Origins {
	o := Origins{allowed: allowed}
	if u, err := url.Parse(own); err == nil && u.Host != "" {
		o.own = normalOrigin(u)
	}
	return o
}

// Foreign reports whether a request comes from a browser's page of another origin that is not allowed. Own is the listener's origin,
// whatever Host a proxy sends, or any origin of the Host of the request.
func (o Origins) Foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		from, err := url.Parse(origin)
		own := err == nil && from.Host != "" && (strings.EqualFold(from.Host, r.Host) || normalOrigin(from) == o.own)
		if !own && !o.isAllowed(strings.ToLower(origin)) {
			return true
		}
	}
	return false
}

// normalOrigin writes an origin as browsers do: in lower case and without the scheme's default port.
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
