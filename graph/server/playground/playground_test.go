package playground

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

var references = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

func TestThePagesAssetsAreServed(t *testing.T) {
	t.Parallel()
	handler := New()
	page := get(handler, Path)
	require.Equal(t, http.StatusOK, page.Code)
	require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	require.NotRegexp(t, `<script>|<style>| style="| on[a-z]+="`, page.Body.String(), "the policy forbids inline code")
	found := references.FindAllStringSubmatch(page.Body.String(), -1)
	require.Len(t, found, 8)
	for _, reference := range found {
		if reference[1] == "/icon.svg" || reference[1] == "/" { // the listener's and the console's
			continue
		}
		part := get(handler, reference[1])
		require.Equal(t, http.StatusOK, part.Code, reference[1])
		require.Regexp(t, `^text/(javascript|css); charset=utf-8$`, part.Header().Get("Content-Type"))
	}
	require.Equal(t, http.StatusOK, get(handler, Path+"/assets/licenses.txt").Code)
	for _, path := range []string{Path + "/", Path + "/nothing", Path + "/assets", Path + "/assets/", Path + "/assets/package-lock.json", Path + "/page.html"} {
		require.Equal(t, http.StatusNotFound, get(handler, path).Code, path)
	}
}

// The assets match package-lock.json: make generate writes them again when it changes.
func TestAssetsAreUpToDate(t *testing.T) {
	t.Parallel()
	wanted, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	written, err := os.ReadFile("assets/package-lock.json")
	require.NoError(t, err)
	require.Equal(t, string(wanted), string(written), "run make generate")
}
