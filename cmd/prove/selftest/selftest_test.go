package selftest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/report"
)

// root is the repository's.
var root = filepath.Join("..", "..", "..")

// Every row fits the file that it names, and changes it.
func TestCatalogueFitsTheRepository(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(catalogue), 40)
	for _, b := range catalogue {
		original, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.File)))
		require.NoError(t, err)
		text, err := b.planted(root)
		require.NoError(t, err)
		require.NotEqual(t, string(original), text, b.Name)
		require.Regexp(t, `^[A-Z][^|]*\.$`, b.Promise, b.Name)
	}
}

// The package of each bug compiles with it. Without its program a bug has no result.
func TestBugsCompile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compiles some 70 packages")
	}
	for _, b := range catalogue {
		if filepath.Ext(b.File) == ".go" {
			require.NoError(t, b.build(t.Context(), root, t.TempDir(), "./"+filepath.Dir(b.File)))
		}
	}
}

// The page lists the bugs that were found and missed. A self-test fails if it finds too few bugs, or anything in the server without
// a bug. A proof without a result is no result.
func TestResultsAreJudged(t *testing.T) {
	t.Parallel()
	r := Results{
		{}, {Bug: catalogue[0], By: "orders", After: 12 * time.Second}, {Bug: catalogue[1], NotTried: "no right"}, {Bug: catalogue[2]},
	}
	made := new(report.Result)
	r.Fill(made)
	page := made.Page()
	require.Contains(t, page, "**1 of 2 bugs were found**, "+strconv.Itoa(len(catalogue)-2)+" of")
	require.Contains(t, page, catalogue[0].Promise+" | orders | 12.0 s |")
	require.Contains(t, page, catalogue[1].Promise+" | no result: no right | 0.0 s |")
	require.Contains(t, page, catalogue[2].Promise+" | missed | 0.0 s |")
	require.NoError(t, r.Judge(1))
	err := r.Judge(2)
	require.ErrorContains(t, err, "missed: "+catalogue[2].Name)
	require.NotContains(t, err.Error(), catalogue[1].Name)
	r[0] = Result{By: "orders", Violation: "it is wrong"}
	require.ErrorContains(t, r.Judge(0), "without a bug: orders: it is wrong")
	r[0] = Result{NotTried: "no right"}
	require.ErrorContains(t, r.Judge(1), "was not tried: no right")
}

// Each row is in one of the shares, and rows are chosen by their names.
func TestRowsAreChosen(t *testing.T) {
	t.Parallel()
	all := Select("all")
	require.Equal(t, catalogue, all)
	require.ElementsMatch(t, all, slices.Concat(Share(all, 1, 3), Share(all, 2, 3), Share(all, 3, 3)))
	require.Equal(t, []Row{catalogue[1], catalogue[4]}, Select(catalogue[4].Name, catalogue[1].Name))
}

// replacing is a bug that replaces one line of a file.
func replacing(file, line, bug string) Row {
	return parse(filepath.Base(file), fmt.Sprintf("It is right.\n--- a/%s\n+++ b/%s\n@@ -1,1 +1,1 @@\n-%s\n+%s\n", file, file, line, bug))
}

// A bug is compiled in, also one in an embedded file, and the repository's files stay unchanged.
func TestBuildPlantsABug(t *testing.T) {
	t.Parallel()
	root, rules := t.TempDir(), "cmd/stoa/"+"rules.sql"
	for name, text := range map[string]string{
		"go.mod":              "module stoa\n\ngo 1.26\n",
		"cmd/stoa/main.go":    "package main\n\nimport _ \"embed\"\n\n//go:embed rules.sql\nvar rules string\n\nfunc main() { print(rules, \" first\") }\n",
		rules:                 "SELECT 1 FOR UPDATE\n",
		"cmd/inspect/main.go": "package main\n\nfunc main() {}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	folder := t.TempDir()
	for name, row := range map[string]struct{ line, bug, want string }{
		rules:              {"SELECT 1 FOR UPDATE", "SELECT 1", "SELECT 1\n first"},
		"cmd/stoa/main.go": {`func main() { print(rules, " first") }`, "func main() { print(rules) }", "SELECT 1 FOR UPDATE\n"},
	} {
		bug := replacing(name, row.line, row.bug)
		program, err := Build(t.Context(), root, folder, bug)
		require.NoError(t, err)
		out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, row.want, string(out))
		_, err = os.Stat(program + "-inspect")
		require.NoError(t, err)
		kept, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		require.Contains(t, string(kept), row.line)
	}
	_, err := Build(t.Context(), root, folder, replacing(rules, "SELECT 1 FOR SHARE", "SELECT 1"))
	require.ErrorContains(t, err, "occurs 0 times")
}
