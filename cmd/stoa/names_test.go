package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/secrets"
)

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
	parser, err := kong.New(newCommands(), kong.Name("stoa"), kong.DefaultEnvars(envPrefix))
	require.NoError(t, err)
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
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
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
