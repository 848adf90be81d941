package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/gorilla/websocket"
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

// Descriptions name the base URL that is set, or else the address of the listener. A variable that is no setting is named in the
// log, and an empty one changes nothing.
func TestDescriptionsNameBaseURL(t *testing.T) {
	t.Parallel()
	const base = "https://stoa.example"
	plain, named := sharedServer(t), startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_BASE_URL="+base,
		"STOA_LIMIT_SOCKET=3", "STOA_TOKEN_TTL=")
	named.waitForLog("unknown setting: no variable of this version has this name", "name", "STOA_LIMIT_SOCKET")
	for want, s := range map[string]*testServer{plain.url: plain, base: named} {
		for _, path := range []string{"/api/v1/openapi.json", "/skill.md", "/llms.txt"} {
			page := s.read(path)
			require.Equal(t, http.StatusOK, page.status)
			require.Contains(t, string(page.raw), want)
			require.NotContains(t, string(page.raw), "http://127.0.0.1:8080")
		}
	}
	// The base URL's origin may open the event socket, also through a proxy that changes the Host.
	for origin, code := range map[string]int{"https://stoa.example": 4401, "https://other.example": 4403} {
		address := "ws" + strings.TrimPrefix(named.url, "http") + "/ws/v1/events/"
		conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), address, http.Header{"Origin": {origin}})
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		_, _, err = conn.ReadMessage()
		require.True(t, websocket.IsCloseError(err, code), "%s: %v", origin, err)
		require.NoError(t, conn.Close())
	}
}
