package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// Both formats hold the same description.
func TestOpenAPICommand(t *testing.T) {
	t.Parallel()
	code, text, stderr := runInProcess("openapi", "--base-url=https://stoa.example")
	require.Zero(t, code, stderr)
	require.Contains(t, text, "\n  - url: https://stoa.example\n")
	var fromYAML, fromJSON any
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(asJSON, &fromYAML))
	code, text, stderr = runProgram(t, []string{"openapi", "--format=json"}, "STOA_BASE_URL=https://stoa.example")
	require.Zero(t, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(text), &fromJSON))
	require.Equal(t, fromYAML, fromJSON)

	for _, wrong := range []string{"--format=xml", "--base-url=stoa.example", "--base-url=https://stoa.example/api"} {
		code, _, stderr = runInProcess("openapi", wrong)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "--")
	}
}

// Descriptions name the base URL that is set, or else the address of the listener.
func TestDescriptionsNameBaseURL(t *testing.T) {
	t.Parallel()
	database := "STOA_DATABASE_URL=" + graphtest.NewDatabase(t)
	for _, setting := range []string{"STOA_BASE_URL=", "STOA_BASE_URL=https://stoa.example"} {
		s := startServer(t, database, setting)
		want := s.url
		if len(setting) > len("STOA_BASE_URL=") {
			want = setting[len("STOA_BASE_URL="):]
		}
		for _, path := range []string{"/api/v1/openapi.json", "/skill.md", "/llms.txt"} {
			page := s.read(path)
			require.Equal(t, http.StatusOK, page.status)
			require.Contains(t, string(page.raw), want)
			require.NotContains(t, string(page.raw), "http://127.0.0.1:8080")
		}
	}
}
