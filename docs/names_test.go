package docs_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// bareFiles are files named without their folder, in the code quotes of documents.
	bareFiles = regexp.MustCompile("`([\\w.-]+\\.(?:go|sql|graphql|sh))`")
	// quotedNames are single names in code quotes, declarations the names that a Go or GraphQL file declares.
	quotedNames  = regexp.MustCompile("`([A-Za-z]\\w*)`")
	declarations = regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |[ \t]+|"?)([A-Za-z_]\w*)\b`)
)

// Commands, flags, variables and targets of make are checked in cmd/stoa, which knows them.

// A file that a document of the present names without its folder exists in some folder.
func TestBareFileNames(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for name := range repository(t, func(string) bool { return true }) {
		known[path.Base(name)] = true
	}
	for name, text := range repository(t, isDocument) {
		if name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/decisions/") {
			continue // they describe the past
		}
		for _, found := range bareFiles.FindAllStringSubmatch(text, -1) {
			if !known[found[1]] {
				t.Errorf("%s names %s, and no file has that name", name, found[1])
			}
		}
	}
}

// recipeExamples are names that a recipe has its reader make.
var recipeExamples = map[string]bool{"language": true, "SetNillableLanguage": true, "Mutation": true, "pause": true, "close_task": true}

// Every name in a recipe is declared in a folder that the recipe names.
func TestNamesOfRecipes(t *testing.T) {
	t.Parallel()
	texts := repository(t, isText)
	_, recipes, found := strings.Cut(texts["CONTRIBUTING.md"], "\n## Recipe")
	require.True(t, found)
	for recipe := range strings.SplitSeq(recipes, "\n## Recipe") {
		folders := make(map[string]bool)
		for _, named := range filePaths.FindAllStringSubmatch(recipe, -1) {
			folders[path.Dir(named[1])] = true
		}
		for _, named := range quotedPaths.FindAllStringSubmatch(recipe, -1) {
			folders[strings.TrimSuffix(named[1], "/")] = true
		}
		declared := make(map[string]bool)
		for name, text := range texts {
			if folders[path.Dir(name)] && !isDocument(name) {
				for _, one := range declarations.FindAllStringSubmatch(text, -1) {
					declared[one[1]] = true
				}
			}
		}
		title, _, _ := strings.Cut(recipe, "\n")
		for _, named := range quotedNames.FindAllStringSubmatch(recipe, -1) {
			if !declared[named[1]] && !recipeExamples[named[1]] {
				t.Errorf("CONTRIBUTING.md, recipe%s names %s, which no folder of the recipe declares", title, named[1])
			}
		}
	}
}
