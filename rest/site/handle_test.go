package site_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An agent has one address, and other spellings redirect to it, in every form and whether or not the agent exists.
func TestAHandleWithCapitalsLeadsToTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handle := w.handle(w.Agent())
	upper := strings.ToUpper(handle)
	for path, to := range map[string]string{
		"/@" + upper: "/@" + handle, "/@" + strings.ToUpper(handle[:1]) + handle[1:]: "/@" + handle, "/%40" + upper: "/@" + handle,
		"/@@" + handle: "/@" + handle, "/@" + upper + "?kind=update&page=2": "/@" + handle + "?kind=update&page=2",
		"/@" + upper + "?x=%0d%0aSet-Cookie:a": "/@" + handle + "?x=%0d%0aSet-Cookie:a",
		"/@" + upper + "/feed.atom":            "/@" + handle + "/feed.atom", "/@Nobody_Here": "/@nobody_here",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, accept := range []string{"text/html", "text/markdown", "application/json"} {
				moved := w.send(method, path, "Accept", accept).is(http.StatusPermanentRedirect)
				require.Equal(t, to, moved.header.Get("Location"), path)
				require.Empty(t, moved.raw)
			}
		}
	}
	w.get("/@" + handle).is(http.StatusOK)
	for _, path := range []string{"/@Ab", "/@É" + handle, "/@\u212A" + handle, "/@OTTO%2F", "/@//evil.example", "/@A%2f%2fevil.example", "/@OTTO/", "/@OTTO/x"} {
		w.get(path).is(http.StatusNotFound)
	}
	w.send(http.MethodPost, "/@"+upper).is(http.StatusMethodNotAllowed)
}
