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

// sample is one file of a corpus with the expected answer of each group of purposes: accept, reject or arguable.
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

// TestCorpus inspects every file of the corpora: no wrong accept, no wrong refusal, and for arguable files the same answer twice.
// The purposes differ only in the types they take, which is decided first: images are inspected as a whole for one of them. PDFs
// are for two: their verdicts and reasons do not differ. With -short it inspects the first file of each kind; with the race detector
// children are slow, so such a build inspects every tenth file.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, folder := range corpora() {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var lock sync.Mutex
			var wrong []string
			slots := make(chan struct{}, 2)
			var done sync.WaitGroup
			seen := map[string]bool{}
			for i, s := range samples(t, folder) {
				if i%instrumented != 0 || testing.Short() && seen[s.kind] {
					continue
				}
				seen[s.kind] = true
				slots <- struct{}{}
				done.Go(func() {
					defer func() { <-slots }()
					whole := inspectedPlainly(t, s.path, Portfolio)
					content, err := os.ReadFile(s.path)
					if err != nil {
						t.Error(err)
						return
					}
					_, refused := sniff(content, Avatar)
					if whole.MediaType == PDF {
						assert.Equal(t, whole, inspectedPlainly(t, s.path, Order), s.path)
					}
					for purpose, expect := range s.expect {
						accepted, reason := whole.Accepted, whole.Reason
						if purpose == Avatar && refused != nil {
							accepted, reason = false, refused.Error()
						}
						answer := map[bool]string{true: "accept", false: "reject"}[accepted]
						if expect == "arguable" {
							expect = answer
							assert.Equal(t, whole, inspectedPlainly(t, s.path, Portfolio), s.path)
						}
						if answer != expect {
							lock.Lock()
							wrong = append(wrong, fmt.Sprintf("%s %s: want %s, got %s (%s) | %s | %s",
								s.path, purpose, expect, answer, reason, s.kind, s.why))
							lock.Unlock()
						}
					}
				})
			}
			done.Wait()
			require.Empty(t, wrong, strings.Join(wrong, "\n"))
		})
	}
}

// inspectedPlainly runs one inspection and returns its report, the files aside.
func inspectedPlainly(t *testing.T, path string, p Purpose) Report {
	report, err := new(Inspector).Inspect(t.Context(), Request{Original: open(t, path), Purpose: p})
	if !assert.NoError(t, err, path) {
		return Report{}
	}
	report.Preview, report.Published, report.Processor = nil, nil, 0
	return report
}
