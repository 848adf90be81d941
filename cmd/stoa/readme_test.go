package main

import (
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
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/secrets"
	"stoa/graph/graphtest"
)

var readmeShell = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The README's lines for a first agent register one.
func TestReadmeMakesAnAgent(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	blocks := readmeShell.FindAllStringSubmatch(readFile(t, "../../README.md"), -1)
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
	_, s := ownServer(t)
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

// Every command, flag, variable and target of make that a document names exists.
func TestDocumentsNameExistingThings(t *testing.T) {
	t.Parallel()
	parser := graphtest.Got(kong.New(newCommands(), kong.Name("stoa"), kong.DefaultEnvars(envPrefix)))(t)
	flags, variables, calls := map[string]bool{"help": true}, map[string]bool{}, map[string]*kong.Node{"help": new(kong.Node)}
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
		calls[path] = node
		for _, child := range node.Children {
			walk(child, strings.TrimSpace(path+" "+child.Name))
		}
	}
	walk(parser.Model.Node, "")
	targets := map[string]bool{}
	for _, found := range makeTargets.FindAllStringSubmatch(readFile(t, "../../Makefile"), -1) {
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
			if of := calls[found[1]]; of == nil || (found[2] != "" && len(of.Children) > 0 && calls[sub] == nil) {
				t.Errorf("%s names stoa %s, which is no command", name, sub)
			}
		}
	}
}

// documents returns the Markdown files except the changelog and the decisions, which describe the past.
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
	text := succeeds(t)(runInProcess("openapi", "--base-url=https://stoa.example"))
	require.Contains(t, text, "\n  - url: https://stoa.example\n")
	asJSON := output(t, []string{"openapi", "--format=json"}, "STOA_BASE_URL=https://stoa.example")
	require.Equal(t, parsed[any](t, graphtest.Got(yaml.YAMLToJSON([]byte(text)))(t)), parsed[any](t, asJSON))
}

// Descriptions name the base URL that is set, or else the address of the listener. A variable that is no setting is named in the
// log, and an empty variable has no effect.
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
}
