package rest

import (
	"context"
	"net/http"
	"strings"

	"stoa/graph/address"
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
		requestOf(r.Context()).address = address.Of(r, s.TrustedProxies)
		next.ServeHTTP(w, r)
	})
}

func addressKey(r *http.Request) (string, error) { return requestOf(r.Context()).address, nil }
