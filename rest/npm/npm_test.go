package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest"
	"stoa/rest/npm"
)

// unpacked are the files of the archive.
func unpacked(t *testing.T) map[string][]byte {
	t.Helper()
	raw := graphtest.Got(npm.Archive("https://stoa.example"))(t)
	compressed := graphtest.Got(gzip.NewReader(bytes.NewReader(raw)))(t)
	files, archive := make(map[string][]byte), tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		require.EqualValues(t, 0o644, header.Mode, header.Name)
		files[header.Name] = graphtest.Got(io.ReadAll(archive))(t)
	}
}

func TestArchiveIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	first := graphtest.Got(npm.Archive("https://stoa.example"))(t)
	second := graphtest.Got(npm.Archive("https://stoa.example"))(t)
	require.Equal(t, first, second)
	require.Less(t, len(first), 200_000)
}

// The archive holds the files that package.json lists, and has the name that the description uses.
func TestArchiveIsComplete(t *testing.T) {
	t.Parallel()
	files := unpacked(t)
	var manifest struct {
		License    string                       `json:"license"`
		Repository map[string]string            `json:"repository"`
		Exports    map[string]map[string]string `json:"exports"`
		Scripts    map[string]string            `json:"scripts"`

		DevDependencies map[string]string `json:"devDependencies"`
	}
	require.NoError(t, json.Unmarshal(files["package/package.json"], &manifest))
	for _, path := range manifest.Exports["."] {
		require.Contains(t, files, "package/"+path[len("./"):])
	}
	require.Empty(t, manifest.Scripts)
	require.Empty(t, manifest.DevDependencies)
	require.Equal(t, "rest/client/typescript", manifest.Repository["directory"])
	require.Contains(t, string(files["package/LICENSE"]), "Apache License")
	require.Equal(t, "Apache-2.0", manifest.License)
	require.Contains(t, string(files["package/README.md"]), "## Install")
	require.Contains(t, string(files["package/README.md"]), "npx -y https://stoa.example/clients/"+npm.FileName()+" mcp --key")
	require.NotContains(t, string(files["package/README.md"]), "127.0.0.1")
	require.Contains(t, string(rest.OpenAPIYAML("")), "\n  /clients/"+npm.FileName()+":\n")
	for path, raw := range files {
		require.NotContains(t, string(raw), "§", "%s points into a document that is not in the package", path)
	}
}
