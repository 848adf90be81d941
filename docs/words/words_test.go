package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, text string
		want       []string // phrase and line
	}{
		"a comment of Go":           {"a.go", "package a\n\n// Config is what\n// the server is told.\ntype Config int\n", []string{"3 is what", "4 told"}},
		"a phrase over two lines":   {"a.go", "// It waits for\n// want of memory.\npackage a\n", []string{"1 for want of"}},
		"a text of a program":       {"a.go", "package a\n\nconst text = \"nobody\" // a name\n", nil},
		"code in a comment":         {"a.go", "package a // `nobody` owns it\n", nil},
		"the name of a function":    {"a.go", "package a\n\n// tell is told.\nfunc tell() {}\n", []string{"3 told"}},
		"a directive's reason":      {"a.go", "package a\n\nvar a = 1 //nolint:x // nobody reads it\n", []string{"3 nobody"}},
		"the name of a test":        {"a_test.go", "package a\n\nfunc TestNobodyReads() {}\n", []string{"3 Nobody"}},
		"the name of a subtest":     {"a_test.go", "package a\n\nfunc f(t T) {\n\tt.Run(\"for whoever asks\", nil)\n}\n", []string{"4 whoever"}},
		"comments of SQL":           {"a.sql", "-- Whoever asks\nSELECT 1 -- of whom\n", []string{"1 Whoever", "2 of whom"}},
		"a comment in a function":   {"a.sql", "CREATE FUNCTION f() AS $$\n  -- it was told\n$$;\n", []string{"2 told"}},
		"a value of SQL":            {"a.sql", "SELECT 'told'\n", nil},
		"a description of GraphQL":  {"a.graphql", "type A {\n  \"Nobody's.\"\n  b: Int\n}\n", []string{"2 Nobody's"}},
		"a description of OpenAPI":  {"a.yaml", "a:\n  description: |\n    One.\n    It was told.\n  b: it\n", []string{"4 told"}},
		"a short summary":           {"a.yaml", "a:\n  - summary: Nobody's\n", []string{"2 Nobody's"}},
		"a description in a line":   {"a.yaml", "a: {type: string, description: Nobody's}\n", []string{"1 Nobody's"}},
		"an example of OpenAPI":     {"a.yaml", "a:\n  example:\n    description: I was told\n  summary: It was struck\n", []string{"4 struck"}},
		"a comment of YAML":         {"a.yaml", "# told\na: 1 # be it\n", []string{"1 told", "2 be it"}},
		"a document":                {"a.md", "# Told\n\nThere is\nnone.\n", []string{"1 Told", "3 There is none"}},
		"code in a document":        {"a.md", "`told`\n```\ntold\n```\ntold\n", []string{"5 told"}},
		"a comment of TypeScript":   {"a.ts", "/** What it\n * is told. */\nconst a = 'told' // heard\n", []string{"2 told", "3 heard"}},
		"a comment of a script":     {".ci/a", "#!/bin/sh\n# so many\necho told\n", []string{"2 so many"}},
		"a state, not a comparison": {"a.md", "It stays as it is. As it is used, it grows.\n", []string{"1 as it is."}},
		"a part of a word":          {"a.md", "unstruck, toldo, retold\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, found := range check(test.file, test.text) {
				got = append(got, strconv.Itoa(found.line)+" "+found.phrase)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// Each entry says why and what to write instead, each exception why.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, tic := range tics {
		assert.NotEmpty(t, tic.why, tic.pattern)
		assert.NotEmpty(t, tic.instead, tic.pattern)
		assert.Equal(t, strings.ToLower(tic.pattern), tic.pattern, "patterns ignore case")
	}
	for _, exception := range exceptions {
		assert.NotEmpty(t, exception.reason, exception.file)
	}
}

// Generated files and data of tests are not read, files that are not yet committed are.
func TestFiles(t *testing.T) {
	t.Chdir("../..")
	files, err := handwritten(nil)
	require.NoError(t, err)
	assert.Contains(t, files, "docs/words/main.go")
	assert.Contains(t, files, "ent/schema/bot.go")
	assert.Contains(t, files, "rest/openapi.yaml")
	for _, name := range files {
		assert.NotContains(t, name, "/testdata/")
		assert.NotEqual(t, "graph/ent.graphql", name)
		assert.NotEqual(t, "ent/bot.go", name)
	}
}

// An exception that matches nothing is removed.
func TestExceptionsAreNeeded(t *testing.T) {
	t.Chdir("../..")
	files, err := handwritten(nil)
	require.NoError(t, err)
	for _, exception := range exceptions {
		assert.True(t, slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && slices.ContainsFunc(prose(name, string(text)), func(p passage) bool { return exception.covers(name, p.text) })
		}), "%s: %s", exception.file, exception.phrase)
	}
}
