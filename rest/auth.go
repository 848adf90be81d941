package rest

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"stoa/graph/fault"
	"stoa/graph/viewer"
)

// admit finds out who asks. Routes for anyone do not look at the header; readers may come without one, but not with an empty one.
func (s *server) admit(ctx context.Context, header http.Header, who access, mutating bool) (viewer.Viewer, error) {
	anonymous := viewer.Viewer{Address: requestOf(ctx).address}
	if who == anyone || (who == readers && len(header.Values("Authorization")) == 0) {
		return anonymous, nil
	}
	token, ok := Bearer(header)
	if !ok {
		return anonymous, fault.New(fault.Unauthorized)
	}
	v, err := s.Graph.Bots.Admit(ctx, token, mutating)
	v.Address = anonymous.Address
	return v, err
}

// Bearer takes the token out of the one Authorization header (§5); the scheme's case does not matter.
func Bearer(header http.Header) (string, bool) {
	sent := header.Values("Authorization")
	if len(sent) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}

// address notes the client's address: the connection's, or what trusted proxies say of it.
func (s *server) address(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).address = clientAddress(r, s.TrustedProxies)
		next.ServeHTTP(w, r)
	})
}

func addressKey(r *http.Request) (string, error) { return requestOf(r.Context()).address, nil }

// clientAddress walks X-Forwarded-For from the right for as long as the speaker is a trusted proxy.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if len(trusted) == 0 {
		return ClientNetwork(address)
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(forwarded) {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) }) {
			break
		}
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		address = before
	}
	return ClientNetwork(address)
}

// ClientNetwork is what counts as one client address: of IPv6 a /64, which is what one subscriber holds.
func ClientNetwork(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}
