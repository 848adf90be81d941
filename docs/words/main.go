// Command words finds words and phrases in comments, descriptions, names of tests and documents that make a sentence hard to read
// for engineers whose first language is not English. tics lists them with reasons, exceptions what may stay. It reads the files of
// the repository in the working directory, prints one line a finding, and exits 1 if it has any.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run checks the files below the given paths, or all. With -count first it prints how often each entry was found instead.
func run(paths []string) error {
	counting := len(paths) > 0 && paths[0] == "-count"
	if counting {
		paths = paths[1:]
	}
	files, err := handwritten(paths)
	if err != nil {
		return err
	}
	var findings []finding
	for _, name := range files {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) { // deleted, but not yet in a commit
			continue
		}
		if err != nil {
			return err
		}
		findings = append(findings, check(name, string(text))...)
	}
	if counting {
		_, err := os.Stdout.WriteString(counts(findings))
		return err
	}
	for _, found := range findings {
		fmt.Fprintln(os.Stdout, found)
	}
	if len(findings) > 0 {
		return fmt.Errorf("words: %d findings; docs/words/tics.go explains them", len(findings))
	}
	return nil
}

// unread are data of tests, and migrations: those that were applied are not edited.
var unread = regexp.MustCompile(`(^|/)testdata/|^migrate/sql/`)

// handwritten lists the files that Git tracks or would add, without those that .gitattributes calls generated
// and those that unread matches.
func handwritten(paths []string) ([]string, error) {
	//nolint:noctx,gosec // it ends with the command; the paths are the caller's
	listed, err := exec.Command("git", append([]string{"ls-files", "-z", "-co", "--exclude-standard", "--"}, paths...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	attributes := exec.Command("git", "check-attr", "-z", "--stdin", "linguist-generated") //nolint:noctx // as above
	attributes.Stdin = strings.NewReader(string(listed))
	output, err := attributes.Output()
	if err != nil {
		return nil, fmt.Errorf("git check-attr: %w", err)
	}
	var files []string
	for triple := range slices.Chunk(strings.Split(string(output), "\x00"), 3) { // path, attribute, value
		if len(triple) == 3 && triple[2] != "set" && !unread.MatchString(triple[0]) {
			files = append(files, triple[0])
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// A finding is a match of a tic at a line of a file.
type finding struct {
	file   string
	line   int
	phrase string
	tic    tic
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q %s; write %s", f.file, f.line, f.phrase, f.tic.why, f.tic.instead)
}

// check returns the findings of a file, by line.
func check(name, text string) []finding {
	var found []finding
	for _, passage := range prose(name, text) {
		if slices.ContainsFunc(exceptions, func(e exception) bool { return e.covers(name, passage.text) }) {
			continue
		}
		for i, matcher := range matchers {
			for _, at := range matcher.FindAllStringIndex(passage.text, -1) {
				if at[0] == 0 && path.Ext(name) == ".go" && unicode.IsLower(rune(passage.text[0])) { // a doc comment begins with a name
					continue
				}
				phrase := strings.Join(strings.Fields(passage.text[at[0]:at[1]]), " ")
				line := passage.line + strings.Count(passage.text[:at[0]], "\n")
				found = append(found, finding{name, line, phrase, tics[i]})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.line, b.line) })
	return found
}

// counts lists the entries of tics with the number of their findings.
func counts(findings []finding) string {
	var table strings.Builder
	for _, tic := range tics {
		n := 0
		for _, found := range findings {
			if found.tic == tic {
				n++
			}
		}
		fmt.Fprintf(&table, "%5d  %s\n", n, tic.pattern)
	}
	fmt.Fprintf(&table, "%5d\n", len(findings))
	return table.String()
}
