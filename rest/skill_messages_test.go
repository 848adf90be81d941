package rest_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/nacl/box"

	"stoa/graph/orders"
	"stoa/rest/resttest"
)

// block returns the page's first code block in a language.
func block(t *testing.T, page []byte, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindSubmatch(page)
	require.NotNil(t, found, language)
	return string(found[1])
}

// vector is the page's message with its inputs.
type vector struct {
	SenderPrivateKey    []byte `json:"sender_private_key"`
	RecipientPrivateKey []byte `json:"recipient_private_key"`
	SenderID            string `json:"sender_id"`
	Fresh               []byte `json:"fresh"`
	Text                string `json:"text"`
	Message             struct {
		RecipientID        string `json:"recipient_id"`
		ClientMessageID    string `json:"client_message_id"`
		Nonce              []byte `json:"nonce"`
		Ciphertext         []byte `json:"ciphertext"`
		EncryptionVersion  string `json:"encryption_version"`
		SenderPublicKey    []byte `json:"sender_public_key"`
		RecipientPublicKey []byte `json:"recipient_public_key"`
	} `json:"message"`
}

// The page's vector opens, and its nonce is bound as docs/clients.md says.
func TestSkillVectorOpens(t *testing.T) {
	t.Parallel()
	page := sharedSite(t).send(http.MethodGet, "/skill.md", "", nil).raw
	var v vector
	require.NoError(t, json.Unmarshal([]byte(block(t, page, "json")), &v))
	m := v.Message
	opened, ok := box.Open(nil, m.Ciphertext, (*[24]byte)(m.Nonce), (*[32]byte)(m.SenderPublicKey), (*[32]byte)(v.RecipientPrivateKey))
	require.True(t, ok)
	require.Equal(t, v.Text, string(opened))
	sealed := box.Seal(nil, []byte(v.Text), (*[24]byte)(m.Nonce), (*[32]byte)(m.RecipientPublicKey), (*[32]byte)(v.SenderPrivateKey))
	require.Equal(t, m.Ciphertext, sealed)

	keys := bytes.Join([][]byte{m.SenderPublicKey, m.RecipientPublicKey, v.Fresh}, nil)
	direction := sha512.Sum512(append([]byte("stoa nonce direction 1\n"), keys...))
	for _, id := range []string{v.SenderID, m.RecipientID, m.ClientMessageID} {
		parsed := uuid.MustParse(id)
		keys = append(keys, parsed[:]...)
	}
	message := sha512.Sum512(append([]byte("stoa nonce message 1\n"), keys...))
	require.Equal(t, bytes.Join([][]byte{v.Fresh, direction[:6], message[:10]}, nil), m.Nonce)
}

// The page's Python makes and opens the vector, and reads a key that the page's shell commands made.
func TestSkillSealsInPython(t *testing.T) {
	t.Parallel()
	python := resttest.PythonWithNaCl(t)
	s := newSite(t)
	page := s.send(http.MethodGet, "/skill.md", "", nil).raw
	code := block(t, page, "python")
	require.LessOrEqual(t, strings.Count(code, "\n"), 40)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "box.py"), []byte(code), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "vector.json"), []byte(block(t, page, "json")), 0o600))
	key := exec.CommandContext(t.Context(), "openssl", "genpkey", "-algorithm", "X25519", "-out", "me.key")
	key.Dir = folder
	require.NoError(t, key.Run())

	run := exec.CommandContext(t.Context(), python, "-c", `
import json, sys
from box import *
v = json.load(open("vector.json"))
m, sender, recipient = v["message"], *(PrivateKey(base64.b64decode(v[k])) for k in ("sender_private_key", "recipient_private_key"))
ids = (v["sender_id"], m["recipient_id"], m["recipient_public_key"], m["client_message_id"])
assert seal(sender, v["text"], *ids, base64.b64decode(v["fresh"])) == m
read = dict(m, sender_id=v["sender_id"])
assert open_message(recipient, read, v["sender_id"], m["sender_public_key"]) == (v["text"], True)
assert open_message(recipient, dict(read, client_message_id=v["sender_id"]), v["sender_id"], m["sender_public_key"])[1] is False
try:
    open_message(recipient, dict(read, sender_id=m["recipient_id"]), v["sender_id"], m["sender_public_key"])
    sys.exit("another sender's message was opened")
except ValueError:
    pass
print(b64(bytes(load("me.key").public_key)))
`)
	run.Dir = folder
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	public, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	require.Len(t, public, 32)
}

// PyNaCl opens the vectors that the clients share, with the same findings as the clients.
func TestPyNaClOpensTheVectorsOfTheClients(t *testing.T) {
	t.Parallel()
	python := resttest.PythonWithNaCl(t)
	page := sharedSite(t).send(http.MethodGet, "/skill.md", "", nil).raw
	vectors, err := filepath.Abs("client/testdata/binding.json")
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), python, "-c", block(t, page, "python")+`
import json, sys
findings = set()
for v in json.load(open(sys.argv[1]))["messages"]:
    m, sender, recipient = v["envelope"], *(PrivateKey(base64.b64decode(v[k])) for k in ("sender_private_key", "recipient_private_key"))
    nonce = base64.b64decode(m["nonce"])
    for key, other in ((sender, recipient), (recipient, sender)):
        assert Box(key, other.public_key).decrypt(base64.b64decode(m["ciphertext"]), nonce).decode() == v["text"], v["name"]
    ends = (m["sender_public_key"], m["recipient_public_key"], v["sender_id"], m["recipient_id"], m["client_message_id"])
    try:
        bound = bound_nonce(*ends, nonce[:8]) == nonce
    except ValueError: # it names what is no id
        bound = False
    assert bound == (v["finding"] == "bound"), v["name"]
    if bound:
        ids = (v["sender_id"], m["recipient_id"], m["recipient_public_key"], m["client_message_id"])
        assert seal(sender, v["text"], *ids, base64.b64decode(v["fresh"])) == m, v["name"]
    findings.add(v["finding"])
assert findings == {"bound", "unbound", "reflected", "altered"}, findings
`, vectors)
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The skill and the description show the actions of each side of an order, from the table that the server uses.
func TestRolesAreShown(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	table := strings.TrimSpace(orders.RoleTable())
	require.Contains(t, table, "| `funded` |")
	for _, path := range []string{"/skill.md", "/orders.md", "/llms-full.txt"} {
		require.Contains(t, string(s.send(http.MethodGet, path, "", nil).raw), table, path)
	}
	var described struct {
		Tags []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"tags"`
	}
	require.NoError(t, json.Unmarshal(s.send(http.MethodGet, "/api/v1/openapi.json", "", nil).raw, &described))
	for _, tag := range described.Tags {
		if tag.Name == "Orders" {
			require.Contains(t, tag.Description, table)
			return
		}
	}
	t.Fatal("no tag Orders")
}

// The short reference fits, and names this server.
func TestReferenceIsSmall(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	page := s.send(http.MethodGet, "/reference.md", "", nil).raw
	require.Less(t, len(page), 30_000)
	require.Contains(t, string(page), s.url+"/api/v1")
}
