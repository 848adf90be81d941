package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// modules reads go.work and the go.mod of each of its modules, by folder.
func modules(t *testing.T) map[string]*modfile.File {
	t.Helper()
	text, err := os.ReadFile("../go.work")
	require.NoError(t, err)
	work, err := modfile.ParseWork("go.work", text, nil)
	require.NoError(t, err)
	found := make(map[string]*modfile.File)
	for _, use := range work.Use {
		file := filepath.Join("..", use.Path, "go.mod")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found[use.Path], err = modfile.Parse(file, text, nil)
		require.NoError(t, err)
		require.Equal(t, work.Go.Version, found[use.Path].Go.Version, "%s: the version of Go differs from that of go.work", file)
	}
	return found
}

// If two of our modules require the same module, they require the same version, so a build in the workspace and a build of one
// module compile the same. Our own modules come from their folders.
func TestModulesAgree(t *testing.T) {
	t.Parallel()
	all := modules(t)
	ours := make(map[string]string) // path of a module of ours: its folder
	for folder, file := range all {
		ours[file.Module.Mod.Path] = folder
	}
	type choice struct{ version, folder string }
	first := make(map[string]choice)
	for folder, file := range all {
		replaced := make(map[string]string)
		for _, replace := range file.Replace {
			replaced[replace.Old.Path] = filepath.Join(folder, replace.New.Path)
		}
		for _, required := range file.Require {
			path, version := required.Mod.Path, required.Mod.Version
			if from, own := ours[path]; own {
				require.Equal(t, filepath.Clean(from), replaced[path], "%s: %s is not taken from its folder", folder, path)
				continue
			}
			if before, seen := first[path]; seen {
				require.Equal(t, before.version, version, "%s in %s and %s", path, before.folder, folder)
			}
			first[path] = choice{version, folder}
		}
	}
}

// Every go.mod of the repository is in go.work, except the packages' programs, so that nothing else depends on them.
func TestModulesOfTheWorkspace(t *testing.T) {
	t.Parallel()
	all := modules(t)
	for name := range repository(t, func(name string) bool { return filepath.Base(name) == "go.mod" }) {
		folder := filepath.Dir(name)
		if folder != "." {
			folder = "./" + folder
		}
		require.True(t, all[folder] != nil || folder == "./.ci/package/tools", "%s is not in go.work", name)
	}
}

// After make module-path every import of every module is found, and only files that Git tracks have changed.
func TestModulesAreRenamed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs every night")
	}
	const renamed = "example.org/you/house"
	clone := filepath.Join(t.TempDir(), "clone")
	run := func(folder string, environment []string, words ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), words[0], words[1:]...)
		command.Dir, command.Env = folder, append(os.Environ(), environment...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%v: %s", words, out)
		return string(out)
	}
	above, err := exec.CommandContext(t.Context(), "git", "-C", "..", "rev-parse", "--show-prefix").Output()
	if err != nil || strings.TrimSpace(string(above)) != "" {
		t.Skip("this is no clone")
	}
	git := []string{"git", "-c", "user.name=a", "-c", "user.email=a@example.org"}
	run("..", nil, append(git, "clone", "--quiet", "--no-hardlinks", ".", clone)...)
	// The clone has the last commit; the test uses the present script.
	for _, name := range []string{".ci/module-path", "Makefile"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(clone, name), text, 0o755))
	}
	run(clone, nil, "git", "add", ".")
	run(clone, nil, append(git, "commit", "--quiet", "--all", "--allow-empty", "--message", "as it will be")...)

	run(clone, nil, "make", "module-path", "PATH="+renamed)
	require.Empty(t, run(clone, nil, "git", "ls-files", "--others"), "files that Git does not track")
	require.Empty(t, run(clone, nil, "gofmt", "-l", "."))
	alone := []string{"GOWORK=off", "GOFLAGS="}
	for folder := range modules(t) {
		folder = filepath.Join(clone, folder)
		for path := range strings.FieldsSeq(run(folder, alone, "go", "list", "-test", "-deps", "-tags", "browse", "./...")) {
			require.NotRegexp(t, `^stoa(/|$)`, path)
		}
	}
	grep := exec.CommandContext(t.Context(), "git", "grep", "-nE", `(^|[^A-Za-z0-9_./@-])stoa/(cmd|ent|graph|jobs|migrate|rest)\b`,
		"--", ":!CHANGELOG.md", ":!docs/decisions", ":!docs/modules_test.go")
	grep.Dir = clone
	left, _ := grep.Output()
	require.Empty(t, string(left), "the old name is still there")

	refused := exec.CommandContext(t.Context(), "make", "module-path", "PATH=example.org/again")
	refused.Dir = clone
	out, err := refused.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "commit your changes first")
}
