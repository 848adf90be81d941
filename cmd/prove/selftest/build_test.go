package selftest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	b := Builder{Root: root, Folder: t.TempDir()}
	for name, row := range map[string]struct{ line, bug, want string }{
		rules:              {"SELECT 1 FOR UPDATE", "SELECT 1", "SELECT 1\n first"},
		"cmd/stoa/main.go": {`func main() { print(rules, " first") }`, "func main() { print(rules) }", "SELECT 1 FOR UPDATE\n"},
	} {
		bug := replacing(name, row.line, row.bug)
		program, err := b.Build(t.Context(), bug)
		require.NoError(t, err)
		out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, row.want, string(out))
		_, err = os.Stat(program + "-inspect")
		require.NoError(t, err)
		require.NoError(t, b.Remove(bug))
		kept, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		require.Contains(t, string(kept), row.line)
	}
	_, err := b.Build(t.Context(), replacing(rules, "SELECT 1 FOR SHARE", "SELECT 1"))
	require.ErrorContains(t, err, "occurs 0 times")
}

// A bug of an embedded file is put into the server's program, longer or shorter than the original text.
func TestBuildPatchesAProgram(t *testing.T) {
	t.Parallel()
	folder, original := t.TempDir(), "-- text: card\n-- A comment.\n-- name: lock\nSELECT 1 FOR UPDATE\n"
	program := filepath.Join(folder, "server")
	require.NoError(t, os.WriteFile(program, []byte("before"+original+"after"), 0o600))
	require.NoError(t, os.WriteFile(program+"-inspect", []byte("inspect"), 0o600))
	b := Builder{Folder: folder, Program: program}
	for planted, want := range map[string]string{
		"-- text: card\n-- A comment.\n-- name: lock\nSELECT 1\n":                        "before-- text: card\n-- A comment.\n-- name: lock\nSELECT 1\n           after",
		"-- text: card\n-- A comment.\n-- name: lock\nSELECT 1 FOR KEY SHARE\n":          "before-- text: card\n-- name: lock\nSELECT 1 FOR KEY SHARE\n           after",
		"-- text: card\n-- A comment.\n-- name: lock\nSELECT 1 FOR UPDATE SKIP LOCKED\n": "before-- text: card\n-- name: lock\nSELECT 1 FOR UPDATE SKIP LOCKED\n  after",
	} {
		made := filepath.Join(t.TempDir(), "stoa")
		done, err := b.patch(made, original, planted)
		require.NoError(t, err)
		require.True(t, done)
		text, err := os.ReadFile(made)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		inspector, err := os.ReadFile(made + "-inspect")
		require.NoError(t, err)
		require.Equal(t, "inspect", string(inspector))
	}
	for _, wrong := range []struct{ original, planted string }{
		{"SELECT 2", "SELECT 3"}, {original, "-- text: card\n-- name: lock\nSELECT 1 FOR UPDATE of what is much longer than it was before"},
	} {
		done, err := b.patch(filepath.Join(t.TempDir(), "stoa"), wrong.original, wrong.planted)
		require.NoError(t, err)
		require.False(t, done)
	}
}
