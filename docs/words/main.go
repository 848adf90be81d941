// Command words finds phrases of words.txt in documents, descriptions and comments: they make a sentence hard to read for engineers
// whose first language is not English. It reads the files that Git lists below the working directory, leaves out what is generated
// or quoted as code, prints one line a finding, and exits 1 if it has any.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

//go:embed words.txt
var list string

var (
	// texts are what people read in a line, by the extension of the file.
	texts = map[string]*regexp.Regexp{
		".md": regexp.MustCompile(`.*`), ".graphql": regexp.MustCompile(`.*`), ".sql": regexp.MustCompile(`(^|\s)--\s.*`),
		".go": regexp.MustCompile(`(^|\s)//\s.*`), ".ts": regexp.MustCompile(`(^|\s)(//|/?\*+)\s.*`), ".sh": regexp.MustCompile(`(^|\s)#\s.*`),
		"": regexp.MustCompile(`(^|\s)#\s.*`), ".yaml": regexp.MustCompile(`(^|\s)#\s.*|(description|summary|title): .*|^ {6,}[A-Z].*`),
	}
	code  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|(?m:^\\s*(//|--|#|\\*) ?)")
	names = regexp.MustCompile(`^\s*// [a-z]\w*`) // a doc comment begins with one
	// skipped are the past, examples, data of tests, and migrations, which are not edited once they were applied.
	skipped   = regexp.MustCompile(`^CHANGELOG|docs/words/|077-words|/testdata/|^migrate/sql/|^graph/ent\.graphql$`)
	generated = regexp.MustCompile(`^(// |# )?Code generated`)
)

func main() {
	files, err := exec.Command("git", "ls-files", "-co", "--exclude-standard").Output() //nolint:noctx // it ends
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	found := 0
	for name := range strings.Lines(string(files)) {
		name = strings.TrimSpace(name)
		content, err := os.ReadFile(name)
		if err != nil || texts[path.Ext(name)] == nil || skipped.MatchString(name) || generated.Match(content) {
			continue // what was deleted is still listed until the next commit
		}
		for _, finding := range check(path.Ext(name), string(content)) {
			fmt.Printf("%s:%s\n", name, finding)
			found++
		}
	}
	if found > 0 {
		fmt.Fprintf(os.Stderr, "words: %d findings; docs/words/words.txt is the list\n", found)
		os.Exit(1)
	}
}

// check returns the findings in the text of a file with this extension, each with its line.
func check(ext, text string) (findings []string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = texts[ext].FindString(line)
		if i == 0 || lines[i-1] == "" {
			lines[i] = names.ReplaceAllString(lines[i], "")
		}
	}
	read := code.ReplaceAllStringFunc(strings.Join(lines, "\n"), func(quoted string) string {
		return " " + strings.Repeat("\n", strings.Count(quoted, "\n"))
	})
	for entry := range strings.Lines(list) {
		pattern, instead, ok := strings.Cut(strings.TrimSpace(entry), "\t")
		if !ok {
			continue
		}
		phrase := regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(pattern, " ", `\s+`) + `)`)
		for _, at := range phrase.FindAllStringIndex(read, -1) {
			line := 1 + strings.Count(read[:at[0]], "\n")
			findings = append(findings, fmt.Sprintf("%d: %q; write %s", line, read[at[0]:at[1]], instead))
		}
	}
	return findings
}
