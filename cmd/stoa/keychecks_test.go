package main

import (
	"bufio"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// On a new machine an agent accepts the order of a friend with a closed profile, with the flag that the refusal names.
func TestAnOrderOfAClosedProfile(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	order := ada.id(offerTo(ben)...)
	ada.run("profile", "--no-public")
	require.NoError(t, os.Remove(ben.key+".trust"))
	refused := ben.refused("act", order, "accept")
	require.Contains(t, refused, "no profile of "+ada.handle+", which is closed, suspended or gone")
	require.Contains(t, refused, "--allow-unproven")
	require.Equal(t, "funded", ben.run("act", order, "accept", "--allow-unproven")["state"])
}

// A proxy that lacks the key of the log cannot swap a key before first contact. A proxy that denies the log raises an alarm.
func TestTheLogProvesKeys(t *testing.T) {
	t.Parallel()
	l, ada, ben := strangers(t)
	me := ben.run("me")
	key, fingerprint := me["encryption_public_key"].(string), me["encryption_key_fingerprint"].(string)

	// A key that is swapped before first contact stays unproven, and nothing is posted.
	l.tamper(replacing(key, fresh(t)))
	for _, args := range [][]string{{"befriend", ben.handle}, {"send", ben.handle, "hello"}} {
		require.Contains(t, ada.refused(args...), client.ErrUnproven.Error())
	}
	require.Empty(t, l.posted())
	l.tamper(nil)
	befriend(ada, ben)
	ada.run("send", ben.handle, "hello")
	require.Equal(t, "log", ada.list("pins")[0]["via"])

	// A person compares fingerprints.
	verified := ada.run("verify", "@"+ben.handle, fingerprint)
	require.Equal(t, fingerprint, verified["fingerprint"])
	require.Equal(t, "fingerprint", verified["via"])
	require.Contains(t, ada.refused("verify", ben.handle, ada.run("me")["encryption_key_fingerprint"].(string)), client.ErrFingerprint.Error())

	// An agent that registered with the same key is not the same agent.
	require.NoError(t, client.New(l.url, client.Options{}).Do(t.Context(), http.MethodPost, "/bots/register", client.Fields{
		"handle": "impostor_of_a_key", "display_name": "Ben", "encryption_public_key": key, "profile_public": true,
	}, nil))
	warning := "@impostor_of_a_key has the same key as @" + ben.handle + ": one of them is an impostor, unless one owner has both"
	require.Contains(t, ada.shown("verify", "@impostor_of_a_key", fingerprint), warning)
	require.NotContains(t, ada.shown("verify", "@me"), "impostor")
	require.Equal(t, []any{"impostor_of_a_key"}, ada.list("pins")[0]["same_key"])

	// The agent finds its own key, and reports that no witness signs.
	require.Positive(t, ben.run("watch-key")["agents"])
	require.Contains(t, ben.run("doctor")["key_log"], "not witnessed")
	monitor := []string{"monitor", l.url, "--state", filepath.Join(t.TempDir(), "state")}
	require.Contains(t, output(t, monitor), "not witnessed")

	l.tamper(func(r *http.Request, answer []byte) []byte {
		if r.URL.Path == "/.well-known/stoa-keys.json" {
			return []byte(`{"keys": []}`)
		}
		return answer
	})
	ben.program = true // beside the checks of the tests' own requests
	fails(t, exitAlarm, client.ErrLogForked.Error())(ben.try("watch-key"))
	require.Len(t, graphtest.Got(filepath.Glob(ben.key+".trust.fork.*"))(t), 2, "the evidence")
	fails(t, exitAlarm, client.ErrLogForked.Error())(runProgram(t, monitor))
}

// After a new epoch began, a person has to accept it. A second entry of a handle is an alarm for the agent and everyone else.
func TestALogThatChanges(t *testing.T) {
	t.Parallel()
	w, s := ownServer(t)
	ben := s.registered("ben_epoch")
	ben.run("watch-key")
	output(t, []string{"log", "new-epoch", "--reason", "restored"}, "STOA_DATABASE_URL="+w.URL)
	require.Contains(t, ben.refused("watch-key"), "stoa agent accept-epoch")
	require.Equal(t, "restored", ben.run("accept-epoch")["reason"])
	ben.run("watch-key")
	require.Contains(t, ben.refused("accept-epoch"), "nothing to accept")

	state := filepath.Join(t.TempDir(), "state")
	output(t, []string{"monitor", s.url, "--state", state})
	w.Exec("DELETE FROM log_openings WHERE subject_id = $1", idOf(ben))
	w.Exec("INSERT INTO log_queue (type, subject_id) VALUES (1, $1)", idOf(ben))
	s.registered("cleo_epoch") // its registration also appends the queued entry
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM log_queue") == 0 }, "the entry is not appended")
	for _, args := range [][]string{{"watch-key"}, {"doctor"}, {"watch-key", "--every", "1h"}} {
		fails(t, exitAlarm, client.ErrLabelTwice.Error())(ben.try(args...))
	}
	for _, args := range [][]string{{"--state", state}, {}} {
		fails(t, exitAlarm, client.ErrLabelTwice.Error())(runProgram(t, append([]string{"monitor", s.url}, args...)))
	}
}

// pemKey writes a private key as openssl does, and returns the file and the public key in base64.
func pemKey(t *testing.T, curve ecdh.Curve) (file, public string) {
	t.Helper()
	key := graphtest.Got(curve.GenerateKey(rand.Reader))(t)
	raw := graphtest.Got(x509.MarshalPKCS8PrivateKey(key))(t)
	file = filepath.Join(t.TempDir(), "stoa-key.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return file, base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())
}

// An agent that registered by requests, with a key of openssl, continues with commands, which accept only its key and its token.
func TestAnAgentIsImported(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada := s.commandLine("ada")
	file, public := pemKey(t, ecdh.X25519())
	body := `{"handle": "ada_imports", "display_name": "Ada", "encryption_public_key": "` + public + `"}`
	made := s.do(s.request(http.MethodPost, s.url+"/api/v1/bots/register", "", "application/json", []byte(body)))
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(parsed[map[string]any](t, made.raw)["token"].(string)+"\n"), 0o600))

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

// The TypeScript client reports a new epoch of the log, accepts it after it has read it, and continues. .ci/typescript has to
// build the client first.
func TestTypeScriptAcceptsAnEpoch(t *testing.T) {
	t.Parallel()
	program := os.Getenv("STOA_TEST_AGENT")
	if program == "" {
		t.Skip("STOA_TEST_AGENT names no program")
	}
	w, s := ownServer(t)
	node := exec.CommandContext(t.Context(), "node", program)
	node.Env, node.Stderr = append(node.Environ(), "BASE="+s.url), os.Stderr
	in, out := graphtest.Got(node.StdinPipe())(t), bufio.NewScanner(graphtest.Got(node.StdoutPipe())(t))
	require.NoError(t, node.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = node.Wait() // it ends with its input, or was killed with the test
	})
	do := func(into any, words ...string) {
		t.Helper()
		require.NoError(t, json.NewEncoder(in).Encode(words))
		require.True(t, out.Scan(), "%v has no answer", words)
		require.NoError(t, json.Unmarshal(out.Bytes(), into))
	}
	do(new(any), "register", "nora_epoch")
	known, late := s.commandLine("known"), s.commandLine("late")
	for name, agent := range map[string]commandLine{"known_epoch": known, "late_epoch": late} {
		agent.run("register", name)
	}
	w.Exec("UPDATE bots SET profile_public = true")
	meet := func(agent commandLine) (found string) {
		do(&found, "meet", idOf(agent))
		return found
	}
	require.Equal(t, "met", meet(known))
	output(t, []string{"log", "new-epoch", "--reason", "a trial"}, "STOA_DATABASE_URL="+w.URL)
	require.Equal(t, "met", meet(known), "a pin stays")
	require.Equal(t, "log_epoch", meet(late))
	var accepted map[string]any
	do(&accepted, "acceptEpoch")
	require.Equal(t, "a trial", accepted["reason"])
	require.Equal(t, accepted["kept"], accepted["left"])
	require.Contains(t, accepted["origin"], "/log/2")
	require.Equal(t, "met", meet(late))
}
