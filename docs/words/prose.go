package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// A passage is text that a person reads, and the line that it begins at. Its lines are the lines of the file.
type passage struct {
	line int
	text string
}

var (
	code       = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	hashes     = regexp.MustCompile(`(?m)(?:^|[ \t])#+[ \t!].*$`)
	dashes     = regexp.MustCompile(`(?ms)(?:^|[ \t])--.*?$|/\*.*?\*/`)
	slashes    = regexp.MustCompile(`(?ms)(?:^|[ \t])//.*?$|/\*.*?\*/`)
	marks      = regexp.MustCompile(`(?m)^[ \t]*(?://|--|#+|/?\*+/?)?[ \t]*`)
	prosaic    = regexp.MustCompile(`(?:^|[{,]) *(?:- )?(?:description|summary|title): *[|>]?[+-]?(.*)$`)
	capitalize = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
)

// prose returns what people read in a file: the comments of programs and scripts, names of tests, and documents but their code.
func prose(name, text string) []passage {
	switch path.Ext(name) {
	case ".go":
		return ofGo(text)
	case ".sql":
		return comments(text, dashes)
	case ".ts", ".js", ".mjs", ".c", ".css":
		return comments(text, slashes)
	case ".graphql", ".md":
		return []passage{{1, code.ReplaceAllStringFunc(text, blank)}}
	case ".yaml", ".yml":
		return append(comments(text, hashes), descriptions(text)...)
	case "", ".sh":
		return comments(text, hashes)
	}
	return nil
}

// ofGo returns comments, and the names of tests, benchmarks and subtests as words. What is quoted or code in a comment is left out.
func ofGo(text string) []passage {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil // the compiler says it better
	}
	var found []passage
	for _, group := range file.Comments {
		from, to := files.Position(group.Pos()), files.Position(group.End())
		found = append(found, passage{from.Line, unmarked(text[from.Offset:to.Offset])})
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			if name := node.Name.Name; strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") {
				found = append(found, passage{files.Position(node.Pos()).Line, strings.Join(capitalize.FindAllString(name, -1), " ")})
			}
		case *ast.CallExpr:
			if named, ok := node.Fun.(*ast.SelectorExpr); !ok || named.Sel.Name != "Run" || len(node.Args) != 2 {
				break
			}
			if literal, ok := node.Args[0].(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(literal.Value)
				found = append(found, passage{files.Position(literal.Pos()).Line, strings.ReplaceAll(name, "_", " ")})
			}
		}
		return true
	})
	return found
}

// comments returns the comments of other languages. Those on lines that follow each other are one passage.
func comments(text string, pattern *regexp.Regexp) []passage {
	var found []passage
	last := -1
	for _, at := range pattern.FindAllStringIndex(text, -1) {
		line := 1 + strings.Count(text[:at[0]], "\n")
		comment := unmarked(strings.TrimLeft(text[at[0]:at[1]], "\n"))
		if line == last+1 {
			found[len(found)-1].text += "\n" + comment
		} else {
			found = append(found, passage{line, comment})
		}
		last = line + strings.Count(comment, "\n")
	}
	return found
}

// descriptions returns the descriptions, summaries and titles of a YAML file with the lines below that belong to them: those with a
// larger indentation. What is below example, examples or value is a text of an agent.
func descriptions(text string) []passage {
	lines := strings.Split(text, "\n")
	var found []passage
	for i := 0; i < len(lines); i++ {
		start := prosaic.FindStringSubmatch(lines[i])
		if start == nil && !exemplary(lines[i]) {
			continue
		}
		first, indent := i, indentation(lines[i])
		for i+1 < len(lines) && (strings.TrimSpace(lines[i+1]) == "" || indentation(lines[i+1]) > indent) {
			i++
		}
		if start != nil {
			whole := strings.Join(append([]string{start[1]}, lines[first+1:i+1]...), "\n")
			found = append(found, passage{first + 1, code.ReplaceAllStringFunc(whole, blank)})
		}
	}
	return found
}

func exemplary(line string) bool {
	key := strings.TrimSpace(line)
	return key == "example:" || key == "examples:" || key == "value:"
}

func indentation(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}

// unmarked takes the marks of comments from the beginnings of lines, and what is quoted.
func unmarked(text string) string {
	return code.ReplaceAllStringFunc(marks.ReplaceAllString(text, ""), blank)
}

// blank keeps only the line breaks.
func blank(text string) string {
	return " " + strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return -1
	}, text) + " "
}
