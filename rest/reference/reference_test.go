package reference_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/bounds"
	"stoa/rest"
	"stoa/rest/reference"
	"stoa/rest/resttest"
)

func page(t *testing.T) string {
	t.Helper()
	raw := rest.OpenAPI("")
	page := graphtest.Got(reference.Page(raw))(t)
	again := graphtest.Got(reference.Page(raw))(t)
	require.Equal(t, string(page), string(again))
	return string(page)
}

// line returns the line of an operation; empty if it has none.
func line(page, method, path string) string {
	for line := range strings.Lines(page) {
		for _, end := range []string{"`", "?"} {
			if strings.HasPrefix(line, "- `"+method+" "+path+end) {
				return line
			}
		}
	}
	return ""
}

// words returns the members and codes of a line without their marks.
func words(line string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" `?&={}[];,.\n", r) }) {
		name, _, _ := strings.Cut(word, ":")
		all[strings.TrimRight(name, "*")] = true
	}
	return all
}

func object(value any, names ...string) map[string]any {
	for _, name := range names {
		m, _ := value.(map[string]any)
		value = m[name]
	}
	m, _ := value.(map[string]any)
	return m
}

// The page fits into 30 KB and has every operation of the API with its members, parameters and codes.
func TestPageIsCompleteAndSmall(t *testing.T) {
	t.Parallel()
	page := page(t)
	require.Less(t, len(page), reference.Limit)
	d := resttest.Load()
	follow := func(value any) map[string]any {
		found := object(value)
		for {
			target, ok := found["$ref"].(string)
			if !ok {
				return found
			}
			found = object(d.Document, strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
		}
	}
	head, _, _ := strings.Cut(page, "\n## ")
	general := words(head)
	for path, methods := range object(d.Document, "paths") {
		if !strings.HasPrefix(path, "/api/v1/") || path == "/api/v1/openapi.json" {
			continue
		}
		for method, member := range object(methods) {
			operation := object(member)
			line := line(page, strings.ToUpper(method), strings.TrimPrefix(path, "/api/v1"))
			require.NotEmpty(t, line, "%s %s", method, path)
			security, judged := operation["security"].([]any)
			require.Equal(t, judged && len(security) == 0, strings.Contains(line, "` (no token) "), line)
			require.Equal(t, len(security) > 1, strings.Contains(line, "` (token optional) "), line)
			said := words(line)
			parameters, _ := operation["parameters"].([]any)
			for _, one := range parameters {
				if parameter := follow(one); parameter["in"] == "query" {
					require.Contains(t, said, parameter["name"], line)
					require.Equal(t, parameter["required"] == true, strings.Contains(line, fmt.Sprint(parameter["name"], "*=")), line)
				}
			}
			for _, body := range object(operation, "requestBody", "content") {
				for name := range object(follow(object(body)["schema"]), "properties") {
					require.Contains(t, said, name, line)
				}
			}
			for status, answer := range object(operation, "responses") {
				if status < "300" {
					require.Contains(t, strings.ReplaceAll(line, "/", " "), status)
					continue
				}
				schema := object(follow(answer), "content", "application/json", "schema", "properties", "error", "properties", "code")
				codes, _ := schema["enum"].([]any)
				for _, code := range codes {
					require.True(t, said[code.(string)] || general[code.(string)], "%s: %s", line, code)
				}
			}
		}
	}
	_, records, _ := strings.Cut(page, "\n## Records\n")
	for name := range object(d.Document, "components", "schemas") {
		if strings.Contains(page, ":"+name+" ") || strings.Contains(page, "["+name+"]") {
			require.Contains(t, records, "\n- "+name+": ", "what a line refers to is explained")
		}
	}
}

// A trimmed line has no maxLength in the description; its pattern defines the maximum length.
func TestLengthsOfTrimmedLines(t *testing.T) {
	t.Parallel()
	page := page(t)
	for _, line := range []string{line(page, "POST", "/bots/register"), line(page, "PATCH", "/bots/me")} {
		require.Contains(t, line, " display_name")
		require.Regexp(t, `display_name\*?:\.\.80 `, line)
		require.Contains(t, line, "specialty:..160 ")
	}
	for _, path := range []string{"/posts", "/orders", "/tasks", "/services"} {
		require.Regexp(t, `title\*?:\.\.160 `, line(page, "POST", path))
	}
	d := resttest.Load()
	for name, longest := range map[string]int{"SentName": bounds.DisplayName, "SentShortLine": bounds.Title, "SentTitle": bounds.Title} {
		pattern := regexp.MustCompile(object(d.Document, "components", "schemas", name)["pattern"].(string))
		require.True(t, pattern.MatchString(" "+strings.Repeat("x", longest)+" "), name)
		require.False(t, pattern.MatchString(strings.Repeat("x", longest+1)), name)
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	_, codes, found := strings.Cut(page(t), "\n## Codes\n")
	require.True(t, found)
	d := resttest.Load()
	listed, _ := object(d.Document, "components", "schemas", "ErrorCode")["enum"].([]any)
	require.NotEmpty(t, listed)
	for _, code := range listed {
		if code != "method_not_allowed" && code != "expectation_failed" { // of paths and methods that the page does not have
			require.Regexp(t, `(?m)^- \d{3}: .*\b`+code.(string)+`\b`, codes)
		}
	}
}
