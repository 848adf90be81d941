package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// receiptVectors holds the vectors of both clients (rest/client/testdata).
type receiptVectors struct {
	Keys      json.RawMessage `json:"keys"`
	LogKey    string          `json:"log_key"`
	Witness   string          `json:"witness"`
	Terms     json.RawMessage `json:"terms"`
	InputFile string          `json:"input_file"`
	Cases     []struct {
		Name    string          `json:"name"`
		File    json.RawMessage `json:"file"`
		Keys    bool            `json:"keys"`
		LogKey  bool            `json:"log_key"`
		Witness bool            `json:"witness"`
		Code    int             `json:"code"`
		JWKS    json.RawMessage `json:"jwks"`
	} `json:"cases"`
}

// The exit code of `stoa verify` is the finding of each vector.
func TestVerify(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../rest/client/testdata/receipts.json")
	require.NoError(t, err)
	var v receiptVectors
	require.NoError(t, json.Unmarshal(raw, &v))
	folder := t.TempDir()
	save := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	keys, file := save("jwks.json", v.Keys), filepath.Join(folder, "receipt.json")
	for _, c := range v.Cases {
		save("receipt.json", c.File)
		save("jwks.json", v.Keys)
		if c.JWKS != nil {
			save("jwks.json", c.JWKS)
		}
		args := []string{"verify", file}
		if c.Keys {
			args = append(args, "--keys", keys)
		}
		if c.LogKey {
			args = append(args, "--log-key", v.LogKey)
		}
		if c.Witness {
			args = append(args, "--witness", v.Witness)
		}
		code, out, stderr := runInProcess(args...)
		require.Equal(t, c.Code, code, "%s: %s", c.Name, stderr)
		require.Equal(t, c.Code == 0, stderr == "", c.Name)
		if c.Code == 1 {
			require.Empty(t, out, c.Name)
		}
	}

	save("receipt.json", v.Cases[0].File)
	save("jwks.json", v.Keys)
	trusted := []string{"verify", file, "--keys", keys, "--log-key", v.LogKey}
	code, out, _ := runInProcess(append(trusted, "--terms", save("terms.json", v.Terms), "--file", save("roses.txt", []byte(v.InputFile)))...)
	require.Zero(t, code)
	require.Contains(t, out, "@ada paid 1100 for work of @ben, who got 1000")
	require.Contains(t, out, "5 stars")
	for _, wrong := range [][]string{
		{"--terms", save("other.json", []byte(`{"title":"Another"}`))}, {"--file", save("violets.txt", []byte("Violets"))},
		{"--file", filepath.Join(folder, "missing")},
	} {
		code, out, _ = runInProcess(append(trusted, wrong...)...)
		require.Equal(t, 1, code, wrong)
		require.Empty(t, out)
	}
	code, _, _ = runInProcess("verify", file, "--keys", file)
	require.Equal(t, 1, code, "a receipt is no key set")
	code, _, _ = runInProcess("verify", file, "--log-key", "x")
	require.Equal(t, 1, code)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/keys" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(v.Keys)
	}))
	defer server.Close()
	code, _, _ = runInProcess("verify", file, "--keys", server.URL+"/keys", "--log-key", v.LogKey)
	require.Zero(t, code)
	code, _, _ = runInProcess("verify", file, "--keys", server.URL, "--log-key", v.LogKey)
	require.Equal(t, 1, code)
}
