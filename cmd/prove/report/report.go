// Package report stores the result of a run as JSON, makes a page from it, and writes lines of progress during a run.
package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
	"time"
)

// Result holds the findings of a command.
type Result struct {
	Title string    `json:"title"`
	Date  time.Time `json:"date"`
	// Version is the server's version, as it reports it, and Command repeats the measurement.
	Version string `json:"version"`
	Command string `json:"command"`
	Machine string `json:"machine"`
	// Verdict is one sentence.
	Verdict string  `json:"verdict"`
	Tables  []Table `json:"tables"`
}

// Table is one table of a result.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

// Machine describes the machine in a few words.
func Machine() string {
	return fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}

//go:embed page.md.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"row": row, "rule": rule}).Parse(pageText))

// row formats a row of a table in Markdown; rule is the line below its head.
func row(cells []string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
	}
	return "| " + strings.Join(escaped, " | ") + " |"
}

func rule(cells []string) string { return "|" + strings.Repeat(" --- |", len(cells)) }

// Page returns the result as Markdown.
func (r *Result) Page() (string, error) {
	var text strings.Builder
	if err := page.Execute(&text, r); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return text.String(), nil
}

// Write writes result.json and result.md into a folder.
func (r *Result) Write(folder string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	text, err := r.Page()
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"result.json": string(raw) + "\n", "result.md": text} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil { //nolint:gosec // everyone may read it
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// Seconds formats a duration.
func Seconds(t time.Duration) string { return fmt.Sprintf("%.1f s", t.Seconds()) }
