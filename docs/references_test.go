package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// These tests read the whole repository: `make verify` runs them together with the other checks.

const folders = `(?:\.ci|cmd|docs|ent|graph|jobs|migrate|rest)`

var (
	// headings of the contract, such as "### §2.1 Agent".
	headings = regexp.MustCompile(`(?m)^#+ §(\d+(?:\.\d+)*) `)
	// references to a section. In a comment the words before a reference may be on the line above.
	references = regexp.MustCompile(`§\s?(\d+(?:\.\d+)*)`)
	ofRFC      = regexp.MustCompile(`RFC \d+[\s/#*-]*$`)
	ofContract = regexp.MustCompile(`(?i)contract[\s/#*-]*$`)
	// filePaths are files named with their folders, anywhere; quotedPaths are folders as well, in the code quotes of documents.
	filePaths   = regexp.MustCompile(`(?:^|[^\w/.<{-])(` + folders + `/[\w/-]+\.(?:c|go|graphql|json|md|sh|sql|txt|ya?ml))\b`)
	quotedPaths = regexp.MustCompile("`(" + folders + "/[\\w./-]*)`")
	links       = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
)

// Every § in the code and the documents names a section of the contract, in the same spelling.
func TestSectionReferences(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("contract.md")
	require.NoError(t, err)
	sections := make(map[string]bool)
	for _, found := range headings.FindAllStringSubmatch(string(contract), -1) {
		require.False(t, sections[found[1]], "§%s is there twice", found[1])
		sections[found[1]] = true
	}
	require.Greater(t, len(sections), 20)
	for name, text := range repository(t, isText) {
		for _, at := range references.FindAllStringSubmatchIndex(text, -1) {
			before, section := text[max(0, at[0]-40):at[0]], text[at[2]:at[3]]
			switch {
			case ofRFC.MatchString(before):
			case ofContract.MatchString(before):
				t.Errorf("%s: write the section alone, such as §3.1", position(name, text, at[0]))
			case !sections[section]:
				t.Errorf("%s: §%s is no section of docs/contract.md", position(name, text, at[0]), section)
			}
		}
	}
}

// Every file that a comment or document names by its path, or links to, exists.
func TestPaths(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	for name, text := range repository(t, isText) {
		named := filePaths.FindAllStringSubmatch(text, -1)
		if isDocument(name) {
			named = append(named, quotedPaths.FindAllStringSubmatch(text, -1)...)
		}
		for _, found := range named {
			if _, err := fs.Stat(root, path.Clean(found[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", name, found[1])
			}
		}
		if !isDocument(name) {
			continue
		}
		for _, found := range links.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], ":") {
				continue
			}
			if _, err := fs.Stat(root, path.Join(path.Dir(name), found[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, found[1])
			}
		}
	}
}

// Lines of prose are at most 130 characters wide. Rows of tables and lines of code blocks cannot be broken.
func TestDocumentWidth(t *testing.T) {
	t.Parallel()
	generated := []string{"docs/orders.md"}
	for name, text := range repository(t, isDocument) {
		if folder, _, below := strings.Cut(name, "/"); (below && folder != "docs") || slices.Contains(generated, name) {
			continue
		}
		quoted := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				quoted = !quoted
			}
			whole := quoted || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ")
			if width := utf8.RuneCountInString(line); width > 130 && !whole {
				t.Errorf("%s:%d: %d characters", name, i+1, width)
			}
		}
	}
}

// isText reports whether a file names sections and paths. This file has only examples.
func isText(name string) bool {
	kinds := []string{".go", ".graphql", ".md", ".sh", ".sql", ".yaml", ".yml"}
	return slices.Contains(kinds, path.Ext(name)) && name != "docs/references_test.go"
}

func isDocument(name string) bool {
	return path.Ext(name) == ".md" && name != "rest/skill.md" && !strings.Contains(name, "/testdata/")
}

// repository reads the chosen files of the repository, by their paths, without generated and downloaded files.
func repository(t *testing.T, asked func(name string) bool) map[string]string {
	t.Helper()
	skipped := []string{".git", ".cache", "bin", "data", "node_modules"}
	texts := make(map[string]string)
	root := os.DirFS("..")
	require.NoError(t, fs.WalkDir(root, ".", func(name string, found fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case found.IsDir() && slices.Contains(skipped, found.Name()):
			return filepath.SkipDir
		case found.Type().IsRegular() && asked(name):
			text, err := fs.ReadFile(root, name)
			if !bytes.HasPrefix(text, []byte("// Code generated")) {
				texts[name] = string(text)
			}
			return err
		}
		return nil
	}))
	return texts
}

// position returns the position of a byte in a file, in the form of compilers.
func position(name, text string, at int) string {
	return name + ":" + strconv.Itoa(1+strings.Count(text[:at], "\n"))
}
