package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

func TestHealthCommand(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	listen := "STOA_LISTEN=" + strings.TrimPrefix(s.url, "http://")
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	for _, setting := range []string{listen, "STOA_LISTEN=:" + port, "STOA_LISTEN=0.0.0.0:" + port} {
		require.JSONEq(t, `{"status":"ok","version":"`+versionText()+`"}`, output(t, []string{"health"}, setting, "http_proxy=http://127.0.0.1:1"))
	}
	require.Contains(t, output(t, []string{"health", "--ready"}, listen), `"checks"`)
	require.Contains(t, string(s.fetch(s.operator+"/healthz").raw), `"version":"`+versionText()+`"`)

	s.signal(syscall.SIGTERM)
	eventually(t, s.isShuttingDown, "it shuts down")
	require.Regexp(t, "503|refused", complaint(t, []string{"health", "--ready"}, listen))
	s.waitExit()
	require.Contains(t, complaint(t, []string{"health"}, listen), "refused")
}

// Everything that names the version names the newest section of the changelog with a number; .ci/package/cut writes them all.
func TestTheVersionIsNamedAlike(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindSubmatch(text)
	require.NotNil(t, newest)
	require.Equal(t, release, string(newest[1]))
	const client = `stoa-client-(\d+\.\d+\.\d+)\.tgz`
	for _, place := range []struct{ file, pattern string }{
		{".ci/package/chart/Chart.yaml", `(?m)^version: (\S+)$`},
		{".ci/package/chart/Chart.yaml", `(?m)^appVersion: (\S+)$`},
		{"package.json", `(?m)^  "version": "(.*)"`},
		{"rest/client/typescript/package.json", `(?m)^  "version": "(.*)"`},
		{"rest/client/typescript/package-lock.json", `(?m)^  "version": "(.*)"`},
		{"rest/npm/package/package.json", `(?m)^  "version": "(.*)"`},
		{"rest/client/typescript/README.md", client},
		{"rest/npm/package/README.md", client},
		{"rest/openapi.yaml", client},
		{"rest/skill.md", client},
		{"rest/llms.txt", client},
	} {
		text, err := os.ReadFile(filepath.Join("../..", place.file))
		require.NoError(t, err)
		named := regexp.MustCompile(place.pattern).FindAllSubmatch(text, -1)
		require.NotEmpty(t, named, place)
		for _, name := range named {
			require.Equal(t, release, string(name[1]), place)
		}
	}
}
