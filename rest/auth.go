package rest

import (
	"context"
	"net/http"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// authenticate finds out who calls (§5). Faults: unauthorized for a missing or wrong token, forbidden for a suspended agent, and
// write_limited where mutating is set and the agent has made too many changes.
func (s *server) authenticate(ctx context.Context, header http.Header, token tokenUse, mutating bool) (viewer.Viewer, error) {
	anonymous := viewer.Viewer{Address: requestOf(ctx).address}
	if token == tokenIgnored || (token == tokenOptional && len(header.Values("Authorization")) == 0) {
		return anonymous, nil
	}
	bearer, ok := web.Bearer(header)
	if !ok {
		return anonymous, fault.New(fault.Unauthorized)
	}
	v, err := s.Graph.Auth.Authenticate(ctx, bearer, mutating)
	v.Address = anonymous.Address
	return v, err
}
