package inspection

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is one file of a corpus and the verdict each group of purposes should get: accept, reject or arguable.
type sample struct {
	path, kind, why string
	expect          map[Purpose]string
}

// corpora are the folders whose index.csv is tested: the small one beside the tests, and the one STOA_CORPUS names.
func corpora() []string {
	folders := []string{filepath.Join("testdata", "corpus")}
	if more := os.Getenv("STOA_CORPUS"); more != "" {
		folders = append(folders, more)
	}
	return folders
}

func samples(t *testing.T, folder string) []sample {
	f, err := os.Open(filepath.Join(folder, "index.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var all []sample
	for _, row := range rows[1:] {
		document, image := row[column["expect_order_portfolio"]], row[column["expect_avatar_character"]]
		all = append(all, sample{
			path: filepath.Join(folder, row[column["path"]]), kind: row[column["kind"]], why: row[column["why"]],
			expect: map[Purpose]string{Portfolio: document, Avatar: image},
		})
	}
	return all
}

// TestCorpus judges every file of the corpora for a purpose of each group: no wrong accept, no wrong refusal, and of what is
// arguable the same answer twice. With the race detector every child costs seconds, so such a build judges every tenth file.
func TestCorpus(t *testing.T) { //nolint:paralleltest // it keeps the machine busy enough
	for _, folder := range corpora() {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var lock sync.Mutex
			var wrong []string
			slots := make(chan struct{}, 2)
			var done sync.WaitGroup
			for i, s := range samples(t, folder) {
				if i%instrumented != 0 {
					continue
				}
				for purpose, expect := range s.expect {
					slots <- struct{}{}
					done.Go(func() {
						defer func() { <-slots }()
						got := judged(t, s.path, purpose)
						verdict := map[bool]string{true: "accept", false: "reject"}[got.Accepted]
						if expect == "arguable" {
							expect = verdict
							assert.Equal(t, got, judged(t, s.path, purpose), s.path)
						}
						if verdict != expect {
							lock.Lock()
							defer lock.Unlock()
							wrong = append(wrong, fmt.Sprintf("%s %s: want %s, got %s (%s) | %s | %s",
								s.path, purpose, expect, verdict, got.Reason, s.kind, s.why))
						}
					})
				}
			}
			done.Wait()
			require.Empty(t, wrong, strings.Join(wrong, "\n"))
		})
	}
}

// judged runs one inspection and returns what it decided, the paths aside.
func judged(t *testing.T, path string, p Purpose) Report {
	report, err := new(Inspector).Inspect(t.Context(), Request{Original: open(t, path), Purpose: p, Scratch: t.TempDir()})
	if !assert.NoError(t, err, path) {
		return Report{}
	}
	assert.NoError(t, report.Remove())
	report.Preview, report.Published, report.folder = "", "", nil
	return report
}
