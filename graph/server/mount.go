package server

import (
	"net/http"
	"strings"
)

// Mount is something else that the operator listener carries: a page, a dashboard, figures.
type Mount struct {
	// Path such as /metrics; what lies below it belongs to the mount too.
	Path string
	// Title and About are for the index page, which does not list a mount without a title.
	Title, About string
	// Open says that no token is needed.
	Open bool
	// Policy replaces pagePolicy as the Content-Security-Policy of its pages, where that is too strict.
	Policy string
	// Handler sees whole paths. Unless the mount is open, its caller is an operator (graph/platform/viewer), and a request that changes
	// something came from no other site.
	Handler http.Handler
}

// find returns the mount that a path belongs to.
func find(mounts []Mount, path string) (Mount, bool) {
	for _, m := range mounts {
		if path == m.Path || strings.HasPrefix(path, m.Path+"/") {
			return m, true
		}
	}
	return Mount{}, false
}
