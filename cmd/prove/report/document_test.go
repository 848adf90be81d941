package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/report"
)

func save(t *testing.T, folder, chapter, text string) string {
	t.Helper()
	require.NoError(t, report.Save(folder, report.Chapter{Name: chapter, Text: text, Chart: "<svg>" + text + "</svg>"}))
	page, err := os.ReadFile(filepath.Join(folder, "proof.md"))
	require.NoError(t, err)
	drawn, err := os.ReadFile(filepath.Join(folder, report.ChartName(chapter)))
	require.NoError(t, err)
	require.Equal(t, "<svg>"+text+"</svg>", string(drawn))
	return string(page)
}

// A chapter replaces itself and keeps the others byte for byte, with any text in them.
func TestSaveReplacesItsOwnChapter(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	save(t, folder, report.SoakChapter, "## Hours\n")
	save(t, folder, report.FaultsChapter, "## Faults\n\ncurve, soak, <!-- a comment -->\n")
	page := save(t, folder, report.CurveChapter, "## Curve\n\nfirst")
	require.True(t, strings.HasPrefix(page, "# Proof\n"))
	require.Less(t, strings.Index(page, "## Faults"), strings.Index(page, "## Curve"))
	require.Less(t, strings.Index(page, "## Curve"), strings.Index(page, "## Hours"))

	byHand := strings.Replace(page, "## Faults\n", "## Faults  \r\nby hand", 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "proof.md"), []byte(byHand), 0o600))
	before, rest, _ := strings.Cut(byHand, "## Curve\n\nfirst")
	require.Equal(t, before+"## Curve\n\nsecond"+rest, save(t, folder, report.CurveChapter, "\n## Curve\n\nsecond\n\n"))
	faults, err := os.ReadFile(filepath.Join(folder, "proof.svg"))
	require.NoError(t, err)
	require.Contains(t, string(faults), "## Faults")
}

// A page whose chapter does not end is not written over.
func TestSaveRefusesAChapterWithoutEnd(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	page := save(t, folder, report.FaultsChapter, "## Faults")
	broken := strings.Replace(page, "end of chapter", "end", 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "proof.md"), []byte(broken), 0o600))
	require.Error(t, report.Save(folder, report.Chapter{Name: report.FaultsChapter, Text: "new"}))
	left, err := os.ReadFile(filepath.Join(folder, "proof.md"))
	require.NoError(t, err)
	require.Equal(t, broken, string(left))
}

// The page of the repository begins as a new one would, and has the chapters that it names.
func TestPageOfTheRepository(t *testing.T) {
	t.Parallel()
	fresh := save(t, t.TempDir(), report.FaultsChapter, "")
	introduction, _, _ := strings.Cut(fresh, "<!--")
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "proof.md"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(page), introduction))
	require.Contains(t, string(page), "<!-- chapter faults -->\n## Faults\n")
}
