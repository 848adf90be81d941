package rest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/rest/client"
	"stoa/rest/resttest"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// skillScript returns the page's code blocks in order.
func skillScript(t *testing.T, s *site) string {
	t.Helper()
	page := s.send("GET", "/skill.md", "", nil).is(200)
	script := []string{"set -eu"}
	for _, block := range shellBlock.FindAllStringSubmatch(string(page.raw), -1) {
		script = append(script, block[1])
	}
	require.Greater(t, len(script), 8)
	return strings.Join(script, "\n")
}

// requireSkilled runs a script of the page in a plain shell, and requires that it ends with three orders closed and paid.
func requireSkilled(t *testing.T, s *site, script string) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", script)
	shell.Dir = t.TempDir()
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "\naccepted\n")

	require.EqualValues(t, 3, s.Count("SELECT count(*) FROM orders WHERE state = 'closed' AND outcome = 'accepted'"))
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM orders WHERE state = 'offered' AND service_id IS NOT NULL"))
	const balance = "SELECT a.available_minor FROM accounts a JOIN bots b ON b.id = a.bot_id WHERE b.display_name = $1 AND a.reserved_minor = 0"
	require.EqualValues(t, 500_000-11_000-5_500-1_100, s.Count(balance, "alice"))
	require.EqualValues(t, 500_000+10_000+5_000+1_000, s.Count(balance, "bob"))
	// The page reads the first version of the event channel.
	const waiting = "SELECT count(*) FROM events e JOIN bots b ON b.id = e.recipient_id WHERE b.display_name = $1 AND e.kind ~ '^(contact|message|order)[.]' AND e.kind NOT IN ('order.rated', 'order.receipt')"
	require.Positive(t, s.Count(waiting, "alice"))
	require.Zero(t, s.Count(waiting, "bob"), "he has acknowledged them")
}

// The page's commands work. A search for a handle also finds agents that mention it; the page's command finds only the agent.
func TestSkillLeadsToAPaidOrder(t *testing.T) {
	t.Parallel()
	s := newFileSite(t)
	script := skillScript(t, s)
	// Another agent sorts first by name and mentions all handles.
	liar := "register aaron \"aaron_$(openssl rand -hex 4)\" \"I am $(pick handle < bob.json)\"\nas alice\nHANDLE="
	require.Equal(t, 1, strings.Count(script, "as alice\nHANDLE="))
	const other = "\nas alice\nif once offer /orders '\"title\": \"Another\"'; then exit 9; fi\n"
	// A contractor's text cannot change the address to which the customer's token is sent.
	const said = "The report says that all is well."
	require.Equal(t, 1, strings.Count(script, said))
	script = strings.Replace(script, said, `See \"download_url\":\"/api/v1/attachments/0/../../wallet?/download\"`, 1)
	const refused = `
if register Mira 'not a handle' '' 2> refusal; then exit 7; fi
grep -q invalid_input refusal
[ ! -e mira.key ]
register Mira "mira_$(openssl rand -hex 4)" 'sends a broken file'
cp mira.key kept
if register Mira "mira_$(openssl rand -hex 4)" ''; then exit 6; fi
cmp mira.key kept
as mira
ODD='a "quoted" \b,c;d.png'
cp dots.png "$ODD"
upload "$ODD" portfolio
grep -qF '"file_name":"a \"quoted\" \\b,c;d.png"' "$ODD.portfolio.json"
printf nonsense > work.png
uuid > id
for code in invalid_file rejected; do # the second time as if the first answer had been lost
  cp id work.png.portfolio.id
  if upload work.png portfolio 2> refusal; then exit 8; fi
  grep -q $code refusal
  [ ! -e work.png.portfolio.id ]
done
`
	// The page describes these rules in words: a contractor makes the offer, a proposed refund disputes it, and a file serves twice.
	const told = `
as bob
ALICE=$(api GET "/bots?handle=$(pick handle < alice.json)" | pick id)
once work /orders '"title": "A haiku", "description": "About frogs.", "deadline": "'"$DEADLINE"'", "amount_minor": 10000, "customer_id": "'"$ALICE"'"'
ORDER=$(pick id < work.answer)
USED=$(pick id < dots.png.order.json)
rm dots.png.order.id
upload dots.png order
[ "$USED" != "$(pick id < dots.png.order.json)" ]
as alice
act accept ', "confirmed_total_minor": 11000'
as bob
act start
act deliver ', "result_attachment_ids": ["'"$(pick id < dots.png.order.json)"'"]'
as alice
act propose-refund ', "reason": "No frog."'
if act complete; then exit 5; fi
as bob
act approve-refund
events 0
`
	requireSkilled(t, s, strings.Replace(script, "as alice\nHANDLE=", liar, 1)+other+told+refused)
	require.Zero(t, s.Count("SELECT count(*) FROM contacts c JOIN bots b ON b.id IN (c.low_id, c.high_id) WHERE b.display_name = 'aaron'"))
}

// A block that pays or changes an order acts only once, even if it is run again after a lost answer. This test loses the first
// answer to each such request.
func TestSkillSurvivesLostAnswers(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := newFileSite(t)
	target := graphtest.Got(url.Parse(s.url))(t)
	var lost sync.Map
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			kept := r.Request.Header.Get("X-Keeps-Its-Id")
			if kept == "" {
				return nil
			}
			if _, again := lost.LoadOrStore(kept, true); again {
				assert.Equal(t, "true", r.Header.Get("Idempotent-Replayed"), r.Request.URL.Path)
				return nil
			}
			panic(http.ErrAbortHandler)
		},
	})
	t.Cleanup(proxy.Close)
	script := strings.ReplaceAll(skillScript(t, s), s.url, proxy.URL)
	once := "\nonce() {\n"
	require.Equal(t, 1, strings.Count(script, once))
	require.Equal(t, 1, strings.Count(script, "operation_id\":"), "no block has an id that is lost with the answer")
	// A failed line is run again.
	script = strings.Replace(script, once, "\nonce() { first \"$@\" || first \"$@\"; }\nfirst() {\n", 1)
	script = strings.Replace(script, `--data-binary "@$1"`, `--data-binary "@$1" -H "X-Keeps-Its-Id: $1"`, 1)
	requireSkilled(t, s, script)
	count := 0
	lost.Range(func(any, any) bool {
		count++
		return true
	})
	require.Equal(t, 18, count, "four orders, their steps, a draft with its reply, and a rating")
}

// The shell commands of the page accept only a receipt that the server signed.
func TestSkillVerifiesAReceipt(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	receipt := s.receipt(s.customer, s.closed()["id"])
	page := string(s.send("GET", "/skill.md", "", nil).raw)
	_, key, found := strings.Cut(page, "\nLOG_KEY=")
	require.True(t, found)
	key, _, _ = strings.Cut(key, "\n")
	vkey := graphtest.Got(exec.CommandContext(t.Context(), "bash", "-c", "BASE="+s.url+"\nprintf %s "+key).Output())(t)
	require.Regexp(t, `^[^+\s]+/log/1\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$`, string(vkey))
	_, block, found := strings.Cut(page, "openssl is enough:\n\n```bash\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	verify := func(receipt object) string {
		raw := graphtest.Got(json.Marshal(object{"receipt": receipt}))(t)
		shell := exec.CommandContext(t.Context(), "bash", "-c", "BASE="+s.url+"\n"+block)
		shell.Dir = t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(shell.Dir, "receipt.json"), raw, 0o600))
		out, err := shell.CombinedOutput()
		require.Equal(t, err == nil, strings.Contains(string(out), "Signature Verified Successfully"), "%s", out)
		return string(out)
	}
	require.Contains(t, verify(receipt), "Successfully")
	parts := strings.Split(receipt["jws"].(string), ".")
	payload := bytes.Replace(graphtest.Got(base64.RawURLEncoding.DecodeString(parts[1]))(t), []byte(`"accepted"`), []byte(`"refunded"`), 1)
	parts[1] = base64.RawURLEncoding.EncodeToString(payload)
	require.NotContains(t, verify(changed(receipt, object{"jws": strings.Join(parts, ".")})), "Successfully")
}

// block returns the page's first code block in a language.
func block(t *testing.T, page []byte, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindSubmatch(page)
	require.NotNil(t, found, language)
	return string(found[1])
}

// The Go client opens the page's vector, finds its nonce bound, and makes the same message of its inputs.
func TestSkillVectorOpens(t *testing.T) {
	t.Parallel()
	var v struct {
		Sender    string          `json:"sender_private_key"`
		Recipient string          `json:"recipient_private_key"`
		SenderID  string          `json:"sender_id"`
		Fresh     []byte          `json:"fresh"`
		Text      string          `json:"text"`
		Message   client.Envelope `json:"message"`
	}
	page := sharedSite(t).send(http.MethodGet, "/skill.md", "", nil).raw
	require.NoError(t, json.Unmarshal([]byte(block(t, page, "json")), &v))
	require.Equal(t, v.Text, graphtest.Got(graphtest.Got(client.ParseKeys(v.Recipient))(t).Open(v.Message))(t))
	require.True(t, graphtest.Got(client.Message{SenderID: v.SenderID, Envelope: v.Message}.Bound())(t))
	nonce := graphtest.Got(v.Message.BindNonce(v.SenderID, [8]byte(v.Fresh)))(t)
	m := v.Message
	sender := graphtest.Got(client.ParseKeys(v.Sender))(t)
	require.Equal(t, m, graphtest.Got(sender.SealWith(m.RecipientID, m.RecipientKey, v.Text, m.ClientMessageID, nonce))(t))
}

// The page's Python makes and opens the vector, and reads a key that the page's shell commands made.
func TestSkillSealsInPython(t *testing.T) {
	t.Parallel()
	python := resttest.Python(t, "nacl.public")
	s := newSite(t)
	page := s.send("GET", "/skill.md", "", nil).raw
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
	require.Len(t, graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimSpace(string(out))))(t), 32)
}

// PyNaCl opens the vectors that the clients share, with the same findings as the clients.
func TestPyNaClOpensTheVectorsOfTheClients(t *testing.T) {
	t.Parallel()
	python := resttest.Python(t, "nacl.public")
	page := sharedSite(t).send(http.MethodGet, "/skill.md", "", nil).raw
	vectors := graphtest.Got(filepath.Abs("client/testdata/binding.json"))(t)
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
		require.Contains(t, string(s.send("GET", path, "", nil).raw), table, path)
	}
	for _, tag := range s.get(nil, "/openapi.json").ok(200)["tags"].([]any) {
		if tag := tag.(object); tag["name"] == "Orders" {
			require.Contains(t, tag["description"], table)
			return
		}
	}
	t.Fatal("no tag Orders")
}
