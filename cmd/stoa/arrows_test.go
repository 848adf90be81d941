package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"stoa/graph/graphtest"
)

// level is a layer of packages. They, and folders below them without an entry, import only from lower levels.
type level struct {
	packages []string
	// together is true if the packages may import each other too.
	together bool
}

// levels lists the levels from the lowest up. Every package is in one level.
var levels = []level{
	{packages: []string{"ent/schema", "migrate", "docs", "rest/client", "rest/openapi"}},
	{packages: []string{"ent"}, together: true},
	{packages: []string{"migrate/diff"}},
	{packages: []string{"graph/platform", "graph/server/scalar"}, together: true},
	{packages: []string{"graph/auth", "graph/email", "graph/keylog"}},
	{packages: []string{"graph/messages"}},
	{packages: []string{"graph/events", "graph/wallet"}},
	{packages: []string{"graph/attachments", "graph/onboarding", "graph/webhooks"}},
	{packages: []string{"graph/bots"}},
	{packages: []string{"graph/contacts", "graph/feedback", "graph/owners"}},
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

// levelOf returns the level of a package and the entry that decides it: the longest one that is the package or a parent folder.
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

// imports maps each package of go.work's modules to the packages of these modules that it imports, tests aside.
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

var writePicture = flag.Bool("write", false, "write the levels of docs/architecture.svg instead of comparing them")

// The picture at the top of docs/architecture.md shows the levels, from the highest down, beside processes that are drawn by
// hand. go test ./cmd/stoa -run Picture -write renews the levels.
func TestPictureOfTheArchitecture(t *testing.T) {
	t.Parallel()
	const path, byHand = "../../docs/architecture.svg", "<!-- drawn by hand -->\n"
	kept := readFile(t, path)
	_, processes, found := strings.Cut(kept, byHand)
	require.True(t, found)
	var drawn strings.Builder
	fmt.Fprintf(&drawn, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1080 %[1]d" font-family="sans-serif" font-size="13">
<title>Levels of packages and processes</title>
<rect width="1080" height="%[1]d" fill="#fff"/>
<text x="16" y="32" font-weight="bold" fill="#222" xml:space="preserve">Packages: each imports only from lower levels</text>
<text x="672" y="32" font-weight="bold" fill="#222" xml:space="preserve">Processes: arrows show who connects to whom</text>
`, 62+30*len(levels))
	for i, level := range slices.Backward(levels) {
		y, text := 16+30*(len(levels)-i), strings.Join(level.packages, "   ")
		if level.together {
			text += "   (import each other)"
		}
		fmt.Fprintf(&drawn, `<rect x="16" y="%d" width="608" height="24" rx="4" fill="#eef3fa" stroke="#5b7aa6"/>
<text x="32" y="%d" font-weight="normal" fill="#222" xml:space="preserve">%s</text>
`, y, y+17, text)
	}
	drawn.WriteString(byHand + processes)
	if *writePicture {
		require.NoError(t, os.WriteFile(path, []byte(drawn.String()), 0o644))
		return
	}
	require.Equal(t, drawn.String(), kept, "go test ./cmd/stoa -run Picture -write renews it")
}
