package report

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"stoa/cmd/bench/machine"
)

// The chapters of the page.
const (
	FaultsChapter   = "faults"
	FailoverChapter = "failover"
	UpgradeChapter  = "upgrade"
	CurveChapter    = "curve"
	SoakChapter     = "soak"
	SelfTestChapter = "self-test"
)

// chapters are the names of the chapters, in the order in which they stand on the page.
var chapters = []string{FaultsChapter, FailoverChapter, UpgradeChapter, CurveChapter, SoakChapter, SelfTestChapter}

// pageName is the file of the page.
const pageName = "proof.md"

//go:embed introduction.md
var introduction string

// Origin says where a chapter comes from.
type Origin struct {
	Date time.Time
	// Version is the server's version, as it reports it.
	Version string
	// Command makes the chapter again.
	Command string
	Machine machine.Description
}

// String is how a chapter begins.
func (o Origin) String() string {
	return fmt.Sprintf("Made on %s with %s, by\n\n```sh\n%s\n```", o.Date.UTC().Format("2 January 2006, 15:04 MST"), o.Version, o.Command)
}

// Place describes the machine.
func (o Origin) Place() string {
	return fmt.Sprintf("%s, %d cores shared by everything, %d GiB, Linux %s",
		o.Machine.Processor, o.Machine.Cores, o.Machine.MemoryGiB, o.Machine.Kernel)
}

// Chapter is a part of the page that one command writes.
type Chapter struct {
	// Name is one of the chapters.
	Name string
	// Text begins with a heading of the second level. Chart is an SVG, or empty; the text refers to it by ChartName.
	Text, Chart string
}

// ChartName is the file of a chapter's chart, beside the page.
func ChartName(chapter string) string {
	if chapter == FaultsChapter {
		return "proof.svg"
	}
	return "proof-" + chapter + ".svg"
}

// Save writes a chapter and its chart into a folder. Whatever else is on the page stays unchanged, byte for byte.
func Save(folder string, c Chapter) error {
	name := filepath.Join(folder, pageName)
	page, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		page, err = []byte(introduction), nil
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	text, err := replaced(string(page), c)
	if err != nil {
		return fmt.Errorf("report: %s: %w", name, err)
	}
	for file, content := range map[string]string{name: text, filepath.Join(folder, ChartName(c.Name)): c.Chart} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil { //nolint:gosec // everyone may read it
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// marks are the lines before and after a chapter.
func marks(chapter string) (begin, end string) {
	return "<!-- chapter " + chapter + " -->\n", "<!-- end of chapter " + chapter + " -->\n"
}

// replaced returns the page with the chapter in the place of its predecessor, or before the chapters that follow it.
func replaced(page string, c Chapter) (string, error) {
	begin, end := marks(c.Name)
	whole := begin + strings.TrimSpace(c.Text) + "\n" + end
	before, rest, found := strings.Cut(page, begin)
	if found {
		_, after, ended := strings.Cut(rest, end)
		if !ended {
			return "", fmt.Errorf("chapter %s has no end", c.Name)
		}
		return before + whole + after, nil
	}
	for _, later := range chapters[slices.Index(chapters, c.Name)+1:] {
		mark, _ := marks(later)
		if before, after, found := strings.Cut(page, mark); found {
			return before + whole + "\n" + mark + after, nil
		}
	}
	return strings.TrimRight(page, "\n") + "\n\n" + whole, nil
}

// Template parses the text of a chapter, with the functions by which chapters write figures.
func Template(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{
		"count": count, "cell": cell, "clock": clock, "seconds": seconds, "milliseconds": milliseconds, "chart": ChartName,
		"next": func(i int) int { return i + 1 }, "wrap": wrap,
	}).Parse(text))
}

// lineWidth is the longest line of the page besides tables.
const lineWidth = 128

// wrap breaks a paragraph into lines.
func wrap(text string) string {
	var wrapped strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case width == 0:
		case width+1+length > lineWidth:
			wrapped.WriteByte('\n')
			width = 0
		default:
			wrapped.WriteByte(' ')
			width++
		}
		wrapped.WriteString(word)
		width += length
	}
	return wrapped.String()
}

// Fill executes a template.
func Fill(t *template.Template, data any) (string, error) {
	var text strings.Builder
	if err := t.Execute(&text, data); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return text.String(), nil
}
