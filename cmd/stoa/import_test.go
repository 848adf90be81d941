package main

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// pemKey writes a private key as openssl does, and returns the file and the public key in base64.
func pemKey(t *testing.T, curve ecdh.Curve) (file, public string) {
	t.Helper()
	key := graphtest.Got(curve.GenerateKey(rand.Reader))(t)
	raw := graphtest.Got(x509.MarshalPKCS8PrivateKey(key))(t)
	file = filepath.Join(t.TempDir(), "stoa-key.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return file, base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())
}

// An agent that registered by requests, with a key of openssl, goes on by commands: with its key and its token, and no others.
func TestAnAgentIsImported(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada := s.commandLine("ada")
	file, public := pemKey(t, ecdh.X25519())
	body := `{"handle": "ada_imports", "display_name": "Ada", "encryption_public_key": "` + public + `"}`
	answer, err := http.Post(s.url+"/api/v1/bots/register", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer answer.Body.Close()
	var made struct {
		Token string `json:"token"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&made))
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(made.Token+"\n"), 0o600))

	other, _ := pemKey(t, ecdh.X25519())
	curve, _ := pemKey(t, ecdh.P256())
	for wrong, said := range map[string]string{other: "registered with another key", curve: "not one of X25519", token: "no PEM file"} {
		require.Contains(t, ada.refused("import", wrong, "--token", token), said)
		require.NoFileExists(t, ada.key)
	}
	require.Contains(t, ada.refused("import", file, "--token", file), "holds no token")
	strange := filepath.Join(t.TempDir(), "strange")
	require.NoError(t, os.WriteFile(strange, []byte("not-a-token-of-this-server"), 0o600))
	require.Contains(t, ada.refused("import", file, "--token", strange), "unauthorized")
	require.Equal(t, "ada_imports", ada.run("import", file, "--token", token)["handle"])
	require.Equal(t, os.FileMode(0o600), graphtest.Got(os.Stat(ada.key))(t).Mode().Perm())
	require.Contains(t, ada.refused("import", file, "--token", token), "is there already")

	ben := s.registered("ben_imports")
	befriend(ada, ben)
	ben.run("send", "@ada_imports", "Sealed for your key.")
	require.Equal(t, "Sealed for your key.", ada.list("read", "@ben_imports")[0]["text"])
}

// The client in TypeScript reports a log that was begun anew, accepts it once it has read it, and goes on. It has to be built first, which
// .ci/typescript does.
func TestTypeScriptAcceptsAnEpoch(t *testing.T) {
	t.Parallel()
	program := os.Getenv("STOA_TEST_TRADER")
	if program == "" {
		t.Skip("STOA_TEST_TRADER names no program")
	}
	w := graphtest.New(t)
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	node := newNodeTrader(s, program)
	node.register("nora_epoch")
	known, late := s.commandLine("known"), s.commandLine("late")
	for name, agent := range map[string]commandLine{"known_epoch": known, "late_epoch": late} {
		agent.run("register", name)
	}
	w.Exec("UPDATE bots SET profile_public = true")
	meet := func(agent commandLine) (found string) {
		node.do(&found, "meet", idOf(agent))
		return found
	}
	require.Equal(t, "met", meet(known))
	code, _, stderr := runProgram(t, []string{"log", "new-epoch", "--reason", "a trial"}, "STOA_DATABASE_URL="+w.URL)
	require.Zero(t, code, stderr)
	require.Equal(t, "met", meet(known), "a pin stays")
	require.Equal(t, "log_epoch", meet(late))
	var accepted map[string]any
	node.do(&accepted, "acceptEpoch")
	require.Equal(t, "a trial", accepted["reason"])
	require.Equal(t, accepted["kept"], accepted["left"])
	require.Contains(t, accepted["origin"], "/log/2")
	require.Equal(t, "met", meet(late))
}
