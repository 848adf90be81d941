package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// level is a storey of the house. Its packages, and the folders below them that have no row of their own, import only from
// the storeys beneath.
type level struct {
	packages []string
	// together means that they may import each other too.
	together bool
}

// levels from the ground up. Every package has a place here.
var levels = []level{
	{packages: []string{"ent/schema", "migrate", "docs"}},
	{packages: []string{"ent"}, together: true},
	{packages: []string{"migrate/diff"}},
	{packages: []string{"graph/platform", "graph/server/scalar"}, together: true},
	{packages: []string{"graph/auth", "graph/messages"}},
	{packages: []string{"graph/events", "graph/wallet", "graph/feedback"}},
	{packages: []string{"graph/attachments", "graph/rewards"}},
	{packages: []string{"graph/bots"}},
	{packages: []string{"graph/contacts"}},
	{packages: []string{"graph/orders", "graph/posts", "graph/services"}},
	{packages: []string{"graph/profiles", "graph/tasks"}},
	{packages: []string{"graph/operator"}},
	{packages: []string{"graph/exec"}},
	{packages: []string{"graph"}},
	{packages: []string{"graph/server/session", "graph/server/playground"}},
	{packages: []string{"graph/server", "graph/graphtest"}},
	{packages: []string{"rest", "jobs/inspection"}},
	{packages: []string{"rest/socket", "rest/resttest", "jobs"}},
	{packages: []string{"cmd"}, together: true},
}

// never says what a folder must not import, whatever the levels allow.
var never = []struct{ folder, imported, reason string }{
	{"rest", "ent", "rest knows the domains' cards, not the tables"},
	{"rest", "jobs", "transports do not know jobs"},
	{"jobs", "rest", "jobs do not know transports"},
	{"graph", "rest", "what must hold for REST is in the method"},
	{"cmd/stoa/demo", "graph", "the demo knows the server from outside only"},
	{"cmd/stoa/console", "graph", "the console knows the server from outside only"},
}

// placeOf finds the storey of a package: the longest row that is it or a folder above it.
func placeOf(path string) (place int, row string) {
	place = -1
	for i, level := range levels {
		for _, name := range level.packages {
			if inside(path, name) && len(name) > len(row) {
				place, row = i, name
			}
		}
	}
	return place, row
}

func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// imports lists the packages of the module and what of the module each imports, tests aside.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "stoa/...")
	list.Stderr = t.Output()
	out, err := list.Output()
	require.NoError(t, err)
	found := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], "stoa/")
		found[from] = nil
		for _, word := range words[1:] {
			if to, ours := strings.CutPrefix(word, "stoa/"); ours {
				found[from] = append(found[from], to)
			}
		}
	}
	return found
}

func TestArrows(t *testing.T) {
	t.Parallel()
	for from, all := range imports(t) {
		fromPlace, fromRow := placeOf(from)
		if fromPlace < 0 {
			t.Errorf("%s has no place in the table of levels", from)
			continue
		}
		for _, to := range all {
			toPlace, toRow := placeOf(to)
			sideways := toPlace == fromPlace && (toRow == fromRow || levels[toPlace].together)
			if toPlace >= fromPlace && !sideways {
				t.Errorf("%s imports %s, which is not beneath it", from, to)
			}
			if to == "graph/graphtest" || to == "rest/resttest" {
				t.Errorf("%s imports %s, which is for tests", from, to)
			}
			for _, rule := range never {
				if inside(from, rule.folder) && inside(to, rule.imported) {
					t.Errorf("%s imports %s: %s", from, to, rule.reason)
				}
			}
		}
	}
}
