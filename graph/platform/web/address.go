package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress returns the address for the limits per address, in the form of Subscriber. It follows X-Forwarded-For from the
// right as long as each hop is a trusted proxy. If the connection has no IP address, as in a test, it returns the connection's
// host name.
func ClientAddress(r *http.Request, trusted []netip.Prefix) string {
	peer, ok := peerOf(r)
	if !ok {
		return host(r.RemoteAddr)
	}
	if !Trusts(trusted, peer) {
		return Subscriber(peer)
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(forwarded) {
		before, ok := parse(strings.TrimSpace(hop))
		if !ok || !Trusts(trusted, peer) {
			break
		}
		peer = before
	}
	return Subscriber(peer)
}

// Subscriber returns the part of an address that counts as one client: an IPv4 address, or the /64 of an IPv6 address, the usual
// prefix of one subscriber.
func Subscriber(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}

// Secure reports whether the client sent the request over https: to this server, or to a trusted proxy, according to
// X-Forwarded-Proto. In a chain of proxies the first value counts.
func Secure(r *http.Request, trusted []netip.Prefix) bool {
	if r.TLS != nil {
		return true
	}
	peer, ok := peerOf(r)
	if !ok || !Trusts(trusted, peer) {
		return false
	}
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(first), "https")
}

// Trusts reports whether an address is of a trusted proxy.
func Trusts(trusted []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address.Unmap().WithZone("")) })
}

// peerOf returns the address of the other end of the connection.
func peerOf(r *http.Request) (netip.Addr, bool) { return parse(r.RemoteAddr) }

// parse reads an address with or without a port, as some proxies add it.
func parse(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.Trim(host(text), "[]"))
	return address, err == nil
}

// host returns text without its port.
func host(text string) string {
	if name, _, err := net.SplitHostPort(text); err == nil {
		return name
	}
	return text
}
