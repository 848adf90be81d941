package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"stoa/graph/graphtest"
)

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
