package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ ext, text, want string }{
		"a comment of Go":           {".go", "package a\n\n// Config is what\n// the server is told.\ntype Config int\n", "3 4"},
		"a phrase over two lines":   {".go", "// It waits for\n// want of memory.\npackage a\n", "1"},
		"a text of a program":       {".go", "package a\n\nconst text = \"nobody\" // a name\n", ""},
		"code in a comment":         {".go", "package a // `nobody` owns it\n", ""},
		"the name of a function":    {".go", "package a\n\n// tell is told.\nfunc tell() {}\n", "3"},
		"comments of SQL":           {".sql", "-- Whoever asks\nSELECT 'told' -- of whom\n", "1 2"},
		"a description of GraphQL":  {".graphql", "type A {\n  \"Nobody's.\"\n  b: Int\n}\n", "2"},
		"a description of OpenAPI":  {".yaml", "a:\n  description: |\n      It was told.\n  summary: Nobody's\n", "3 4"},
		"code in a document":        {".md", "`told`\n```\ntold\n```\ntold\n", "5"},
		"a comment of a script":     {"", "#!/bin/sh\n# so many\necho told\n", "2"},
		"a state, not a comparison": {".md", "It stays as it is. As it is used, it grows.\n", "1"},
		"a part of a word":          {".md", "unstruck, toldo, retold\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for _, found := range check(test.ext, test.text) {
				line, _, _ := strings.Cut(found, ":")
				lines = append(lines, line)
			}
			assert.ElementsMatch(t, strings.Fields(test.want), lines)
		})
	}
}
