package server

import (
	"net/http"
	"net/url"
)

// sameOrigin tells whether one of this listener's own pages made a browser send the request. Ports are nothing to a SameSite
// cookie, so it comes with requests of any page on the same host too; what a request may change with it depends on this.
// Browsers say where a request comes from in Sec-Fetch-Site, and in Origin where the connection is not trustworthy enough for
// that; one that says neither comes from no browser, or from an old one.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && origin.Host == r.Host
}

// reads tells a request that changes nothing.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
