package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/secrets"
	"stoa/graph/graphtest"
)

var readmeShell = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The lines of the README that make the first agent do so.
func TestReadmeMakesAnAgent(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	readme := graphtest.Got(os.ReadFile("../../README.md"))(t)
	blocks := readmeShell.FindAllStringSubmatch(string(readme), -1)
	require.Len(t, blocks, 1)
	shell := exec.CommandContext(t.Context(), "sh", "-euc", strings.ReplaceAll(blocks[0][1], "http://127.0.0.1:8080", s.url))
	shell.Dir = t.TempDir()
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"available_minor":500000`)
}

// The example of the Go client trades on a server.
func TestTheExampleOfTheGoClient(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	example := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", "-run", "^TestTheExample$", ".")
	example.Dir = "../../rest/client"
	example.Env = append(os.Environ(), "GOWORK=off", "STOA_EXAMPLE=1", "STOA_URL="+s.url)
	out, err := example.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "closed\n")
}

var (
	// namedVariables are settings of the environment, namedTargets calls of make, namedFlags flags of stoa and namedCommands its
	// commands, in the code quotes and code blocks of documents.
	namedVariables = regexp.MustCompile(`\bSTOA_[A-Z][A-Z_]*[A-Z]\b`)
	namedTargets   = regexp.MustCompile("(?m)(?:`|^    )make ([a-z][a-z-]*)")
	namedFlags     = regexp.MustCompile("`--([a-z][a-z-]+)(?:[`= ])")
	namedCommands  = regexp.MustCompile("(?m)(?:`|^    )stoa ([a-z][a-z-]*)((?: [a-z][a-z-]+)?)")
	makeTargets    = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
)

// foreign are names in documents that look like ours and belong to other programs.
var foreign = []string{
	"out", "server-cores", "least", "results", "tries", // of cmd/prove
	"STOA_TEST_SLACK",                                            // of tests
	"security-opt",                                               // of container programs
	"message", "nonce", "log handle", "log agent", "log receipt", // of hashes: their first words
	"STOA_IMAGE", "STOA_POSTGRES_IMAGE", "STOA_MAILDEV_IMAGE", "STOA_DATABASE_PASSWORD", // of compose.yaml
	"STOA_RELEASE_KEY_FILE", "STOA_RELEASE_PASSWORD", "STOA_SOURCE", "STOA_BUILDER", "STOA_APT_KEY", "STOA_APT_URL", // of .ci/package
}

// Every command, flag, variable and target of make that a document names is there.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	parser := graphtest.Got(kong.New(newCommands(), kong.Name("stoa"), kong.DefaultEnvars(envPrefix)))(t)
	flags, variables, calls := map[string]bool{"help": true}, map[string]bool{}, map[string]bool{"help": true}
	for _, name := range secrets.FileVariables() {
		variables[name] = true
	}
	var walk func(node *kong.Node, path string)
	walk = func(node *kong.Node, path string) {
		for _, flag := range node.Flags {
			flags[flag.Name] = true
			for _, name := range flag.Envs {
				variables[name] = true
			}
		}
		calls[path] = true
		for _, child := range node.Children {
			walk(child, strings.TrimSpace(path+" "+child.Name))
		}
	}
	walk(parser.Model.Node, "")
	makefile := graphtest.Got(os.ReadFile("../../Makefile"))(t)
	targets := map[string]bool{}
	for _, found := range makeTargets.FindAllStringSubmatch(string(makefile), -1) {
		targets[found[1]] = true
	}
	for name, text := range documents(t) {
		for _, found := range namedVariables.FindAllString(text, -1) {
			if !variables[found] && !slices.Contains(foreign, found) {
				t.Errorf("%s names %s, which is no setting", name, found)
			}
		}
		for _, found := range namedFlags.FindAllStringSubmatch(text, -1) {
			if !flags[found[1]] && !slices.Contains(foreign, found[1]) {
				t.Errorf("%s names --%s, which is no flag", name, found[1])
			}
		}
		for _, found := range namedTargets.FindAllStringSubmatch(text, -1) {
			if !targets[found[1]] {
				t.Errorf("%s names make %s, which is no target", name, found[1])
			}
		}
		for _, found := range namedCommands.FindAllStringSubmatch(text, -1) {
			sub := strings.TrimSpace(found[1] + found[2])
			if slices.Contains(foreign, found[1]) || slices.Contains(foreign, sub) {
				continue
			}
			if !calls[found[1]] || (found[2] != "" && hasChildren(calls, found[1]) && !calls[sub]) {
				t.Errorf("%s names stoa %s, which is no command", name, sub)
			}
		}
	}
}

func hasChildren(calls map[string]bool, command string) bool {
	for call := range calls {
		if strings.HasPrefix(call, command+" ") {
			return true
		}
	}
	return false
}

// documents are the Markdown files that speak of the present: the changelog and the decisions describe the past.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	texts := make(map[string]string)
	require.NoError(t, fs.WalkDir(root, ".", func(name string, found fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case found.IsDir() && slices.Contains([]string{".git", ".cache", "bin", "data", "node_modules", "decisions", "testdata"}, found.Name()):
			return filepath.SkipDir
		case filepath.Ext(name) == ".md" && name != "CHANGELOG.md":
			text, err := fs.ReadFile(root, name)
			texts[name] = string(text)
			return err
		}
		return nil
	}))
	return texts
}

// Both formats hold the same description.
func TestOpenAPICommand(t *testing.T) {
	t.Parallel()
	code, text, stderr := runInProcess("openapi", "--base-url=https://stoa.example")
	require.Zero(t, code, stderr)
	require.Contains(t, text, "\n  - url: https://stoa.example\n")
	var fromYAML, fromJSON any
	asJSON := graphtest.Got(yaml.YAMLToJSON([]byte(text)))(t)
	require.NoError(t, json.Unmarshal(asJSON, &fromYAML))
	code, text, stderr = runProgram(t, []string{"openapi", "--format=json"}, "STOA_BASE_URL=https://stoa.example")
	require.Zero(t, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(text), &fromJSON))
	require.Equal(t, fromYAML, fromJSON)

	for _, wrong := range []string{"--format=xml", "--base-url=stoa.example", "--base-url=https://stoa.example/api"} {
		fails(t, exitUsage, "--")(runInProcess("openapi", wrong))
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

// level is a layer of packages. They, and the folders below them that have no separate entry, import only from lower levels.
type level struct {
	packages []string
	// together means that they may import each other too.
	together bool
}

// levels from the lowest up. Every package is in one of them.
var levels = []level{
	{packages: []string{"ent/schema", "migrate", "docs", "rest/client", "rest/openapi"}},
	{packages: []string{"ent"}, together: true},
	{packages: []string{"migrate/diff"}},
	{packages: []string{"graph/platform", "graph/server/scalar"}, together: true},
	{packages: []string{"graph/auth", "graph/email", "graph/keylog"}},
	{packages: []string{"graph/messages"}},
	{packages: []string{"graph/events", "graph/wallet", "graph/feedback"}},
	{packages: []string{"graph/attachments", "graph/onboarding", "graph/webhooks"}},
	{packages: []string{"graph/bots"}},
	{packages: []string{"graph/contacts", "graph/owners"}},
	{packages: []string{"graph/orders", "graph/posts"}},
	{packages: []string{"graph/drafts", "graph/ratings", "graph/receipts", "graph/services"}},
	{packages: []string{"graph/profiles", "graph/tasks", "graph/lifecycle"}},
	{packages: []string{"graph/operator", "graph/exports"}},
	{packages: []string{"graph"}},
	{packages: []string{"graph/exec"}}, // above the domains: each of their tests would compile its 82,000 lines again
	{packages: []string{"graph/server/playground"}},
	{packages: []string{"graph/server", "graph/graphtest"}},
	{packages: []string{"rest/mcp", "rest/owner", "rest/site", "graph/console"}},
	{packages: []string{"rest", "jobs/inspection"}},
	{packages: []string{"rest/socket", "rest/resttest", "jobs"}},
	{packages: []string{"cmd"}, together: true},
}

// forbidden lists imports that a folder must not have, whatever the levels allow.
var forbidden = []struct{ folder, imported, reason string }{
	{"rest", "ent", "rest knows the domains' cards, not the tables"},
	{"rest", "jobs", "transports do not know jobs"},
	{"jobs", "rest", "jobs do not know transports"},
	{"graph", "rest", "what must hold for REST is in the method"}, // but for the formats that a client reads (rest/client)
	{"cmd/stoa/sample", "graph", "its agents know the server from outside only"},
	{"cmd/stoa/agentcli", "graph", "an agent knows the server from outside only"},
	{"cmd/stoa/doctor", "graph", "the doctor knows the server from outside only"},
	{"cmd/stoa/doctor", "rest", "the doctor believes no source of the server's"},
	{"cmd/stoa/operatorcli/client", "graph", "an operator knows the server from outside only"},
}

// levelOf returns the level of a package and the entry that decides it: the longest one that is the package or a folder above it.
func levelOf(path string) (number int, entry string) {
	number = -1
	for i, level := range levels {
		for _, name := range level.packages {
			if inside(path, name) && len(name) > len(entry) {
				number, entry = i, name
			}
		}
	}
	return number, entry
}

func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// imports lists the packages of every module of go.work and which of these each imports, tests aside.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	const ours = "stoa/..."
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ours)
	list.Env = append(os.Environ(), "GOWORK=") // make sets it to off
	list.Stderr = t.Output()
	out := graphtest.Got(list.Output())(t)
	prefix := strings.TrimSuffix(ours, "...")
	found := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], prefix)
		found[from] = nil
		for _, word := range words[1:] {
			if to, own := strings.CutPrefix(word, prefix); own {
				found[from] = append(found[from], to)
			}
		}
	}
	return found
}

func TestArrows(t *testing.T) {
	t.Parallel()
	for from, all := range imports(t) {
		fromLevel, fromEntry := levelOf(from)
		if fromLevel < 0 {
			t.Errorf("%s is in no level", from)
			continue
		}
		for _, to := range all {
			toLevel, toEntry := levelOf(to)
			sideways := toLevel == fromLevel && (toEntry == fromEntry || levels[toLevel].together)
			if toLevel >= fromLevel && !sideways {
				t.Errorf("%s imports %s, which is not of a lower level", from, to)
			}
			if to == "graph/graphtest" || to == "rest/resttest" {
				t.Errorf("%s imports %s, which is for tests", from, to)
			}
			for _, rule := range forbidden {
				if inside(from, rule.folder) && inside(to, rule.imported) && !(rule.folder == "graph" && inside(to, "rest/client")) {
					t.Errorf("%s imports %s: %s", from, to, rule.reason)
				}
			}
		}
	}
}
