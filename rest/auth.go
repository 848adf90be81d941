package rest

import (
	"context"
	"net/http"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// admit finds out who asks. Routes for anyone do not look at the header; readers may come without one, but not with an empty one.
func (s *server) admit(ctx context.Context, header http.Header, who access, mutating bool) (viewer.Viewer, error) {
	anonymous := viewer.Viewer{Address: requestOf(ctx).address}
	if who == anyone || (who == readers && len(header.Values("Authorization")) == 0) {
		return anonymous, nil
	}
	token, ok := web.Bearer(header)
	if !ok {
		return anonymous, fault.New(fault.Unauthorized)
	}
	v, err := s.Graph.Auth.Authenticate(ctx, token, mutating)
	v.Address = anonymous.Address
	return v, err
}

// address notes the client's address: the connection's, or what trusted proxies say of it.
func (s *server) address(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).address = web.ClientAddress(r, s.TrustedProxies)
		next.ServeHTTP(w, r)
	})
}

func addressKey(r *http.Request) (string, error) { return requestOf(r.Context()).address, nil }
