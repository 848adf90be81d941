package playground

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

// complete is a build with all assets, whatever they say.
func complete() fs.FS {
	built := fstest.MapFS{"assets/licenses.txt": {Data: []byte("who wrote it")}}
	for _, name := range scripts {
		built["assets/"+name] = &fstest.MapFile{Data: []byte("/* " + name + " */")}
	}
	return built
}

var references = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

func TestThePageFindsItsParts(t *testing.T) {
	t.Parallel()
	handler := serve(complete())
	page := get(handler, Path)
	require.Equal(t, http.StatusOK, page.Code)
	require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	require.NotRegexp(t, `<script>|<style>| style="| on[a-z]+="`, page.Body.String(), "the policy forbids inline code")
	found := references.FindAllStringSubmatch(page.Body.String(), -1)
	require.Len(t, found, 7)
	for _, reference := range found {
		if reference[1] == "/icon.svg" { // the listener's
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

func TestABuildWithoutAssetsSaysSo(t *testing.T) {
	t.Parallel()
	for _, missing := range append(scripts, "all") {
		built := complete().(fstest.MapFS)
		delete(built, "assets/"+missing)
		if missing == "all" {
			built = fstest.MapFS{"assets/.gitignore": {}}
		}
		page := get(serve(built), Path)
		require.Equal(t, http.StatusOK, page.Code)
		require.Contains(t, page.Body.String(), "make build")
	}
}
