package profile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of the server's module.
const root = "../../.."

// Every package of the server belongs to a layer, and every path of the table is a package or a file of the server.
func TestLayersCoverTheServer(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/stoa")
	list.Dir, list.Stderr = root, t.Output()
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "stoa/rest")
	for _, pkg := range packages {
		if strings.HasPrefix(pkg, "stoa/") {
			_, found := layerOf(pkg, "")
			require.True(t, found, "%s belongs to no layer", pkg)
		}
	}
	owners := make(map[string]string)
	for _, layer := range Layers {
		for _, path := range layer.Paths {
			require.Empty(t, owners[path], "%s belongs to two layers", path)
			owners[path] = layer.Name
			if strings.HasSuffix(path, ".go") {
				require.FileExists(t, filepath.Join(root, strings.TrimPrefix(path, "stoa/")))
				continue
			}
			require.True(t, containsPath(packages, path), "the server has no package in %s", path)
		}
	}
}

func containsPath(packages []string, path string) bool {
	for _, pkg := range packages {
		if pkg == path || strings.HasPrefix(pkg, path+"/") {
			return true
		}
	}
	return false
}

func TestLayerOf(t *testing.T) {
	t.Parallel()
	for at, want := range map[[2]string]string{
		{"stoa/rest", "serve.go"}:                        Routing,
		{"stoa/rest", "bind.go"}:                         Binding,
		{"stoa/rest", "reply.go"}:                        JSON,
		{"stoa/rest/socket", "hub.go"}:                   EventChannel,
		{"stoa/graph/orders", "act.go"}:                  Domain,
		{"stoa/graph/platform/db/prepared", "conn.go"}:   Statement,
		{"github.com/lib/pq", "conn.go"}:                 Statement,
		{"github.com/lib/pq/internal/proto", "proto.go"}: Statement,
		{"net/http", "server.go"}:                        HTTP,
	} {
		layer, found := layerOf(at[0], at[1])
		require.True(t, found, at)
		require.Equal(t, want, layer, at)
	}
	for _, pkg := range []string{"runtime", "net", "strings", "stoa", "github.com/lib/pqueue"} {
		_, found := layerOf(pkg, "x.go")
		require.False(t, found, pkg)
	}
}

func TestPackageOf(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]string{
		"stoa/rest.(*server).call":                             "stoa/rest",
		"stoa/graph/auth.ResultFrom[go.shape.*stoa/graph/a.B]": "stoa/graph/auth",
		"gopkg.in/yaml%2ev3.Unmarshal":                         "gopkg.in/yaml.v3",
		"runtime.mallocgc":                                     "runtime",
		"database/sql.(*DB).QueryContext.func1":                "database/sql",
		"aeshashbody":                                          "aeshashbody",
	} {
		require.Equal(t, want, packageOf(function), function)
	}
}
