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
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// skillScript returns the page's code blocks in order.
func skillScript(t *testing.T, s *site) string {
	t.Helper()
	page := s.send(http.MethodGet, "/skill.md", "", nil)
	require.Equal(t, http.StatusOK, page.status)
	script := []string{"set -eu"}
	for _, block := range shellBlock.FindAllStringSubmatch(string(page.raw), -1) {
		script = append(script, block[1])
	}
	require.Greater(t, len(script), 8)
	return strings.Join(script, "\n")
}

// requireSkilled runs a script of the page in a plain shell, which has to end with three orders closed and paid.
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
	// What a contractor writes does not choose the address that the customer's token goes to.
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
	requireSkilled(t, s, strings.Replace(script, "as alice\nHANDLE=", liar, 1)+other+refused)
	require.Zero(t, s.Count("SELECT count(*) FROM contacts c JOIN bots b ON b.id IN (c.low_id, c.high_id) WHERE b.display_name = 'aaron'"))
}

// A block that pays or changes an order can be run again if its answer was lost, and acts only once. This test loses the first
// answer to each such request.
func TestSkillSurvivesLostAnswers(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := newFileSite(t)
	target, err := url.Parse(s.url)
	require.NoError(t, err)
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
	page := string(s.send(http.MethodGet, "/skill.md", "", nil).raw)
	_, key, found := strings.Cut(page, "\nLOG_KEY=")
	require.True(t, found)
	key, _, _ = strings.Cut(key, "\n")
	vkey, err := exec.CommandContext(t.Context(), "bash", "-c", "BASE="+s.url+"\nprintf %s "+key).Output()
	require.NoError(t, err)
	require.Regexp(t, `^[^+\s]+/log/1\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$`, string(vkey))
	_, block, found := strings.Cut(page, "openssl is enough:\n\n```bash\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	verify := func(receipt map[string]any) string {
		raw, err := json.Marshal(map[string]any{"receipt": receipt})
		require.NoError(t, err)
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
	require.NotContains(t, verify(changed(receipt, map[string]any{"jws": strings.Join(parts, ".")})), "Successfully")
}
