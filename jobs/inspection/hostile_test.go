package inspection

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// within requires a child to stay within its limits. The kernel counts this process's memory at the fork towards the child's
// peak. If that was ever above the child's limit (RunTests keeps it below), only the excess is known to be the child's.
func within(t *testing.T, state *os.ProcessState) {
	require.Less(t, state.UserTime()+state.SystemTime(), (cpuTime+1)*time.Second)
	usage, ok := state.SysUsage().(*syscall.Rusage)
	require.True(t, ok)
	var ours syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &ours))
	require.Less(t, usage.Maxrss, max(maxMemory/1024, ours.Maxrss+1))
}

// TestHostile sends hostile images; each is refused within the limits, which inspected checks.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		file []byte
		want refusal
	}{
		"empty":                      {nil, refusedEmpty},
		"larger than 20 MiB":         {append(slices.Clone(jpegMagic), make([]byte, maxFile)...), refusedSize},
		"PNG bomb":                   {pngFrom(header(20000, 20000, 2), chunk("IDAT", bomb(t, 1, 0)...), chunk("IEND")), refusedPixels},
		"more data than pixels":      {pngFrom(header(4, 4, 2), chunk("IDAT", bomb(t, 1, 0)...), chunk("IEND")), "?"},
		"fewer data than pixels":     {pngFrom(header(4000, 4000, 2), chunk("IDAT", deflate(make([]byte, 1000))...), chunk("IEND")), refusedUndecodable},
		"data that are not deflated": {pngFrom(header(4, 4, 2), chunk("IDAT", 1, 2, 3, 4, 5, 6), chunk("IEND")), refusedUndecodable},
		"text that expands":          {pngFrom(header(1, 1, 2), chunk("zTXt", append([]byte("a\x00\x00"), bomb(t, 1, 0)...)...), chunk("IDAT", deflate(make([]byte, 4))...), chunk("IEND")), "?"},
		"profile that expands":       {pngFrom(header(1, 1, 2), chunk("iCCP", append([]byte("a\x00\x00"), bomb(t, 1, 0)...)...), chunk("IDAT", deflate(make([]byte, 4))...), chunk("IEND")), "?"},
		"JPEG and archive":           {append(jpegOf(t, plain(8, 8, red)), zipOf(t)...), refusedArchive},
		"many scans":                 {manyScans(t), refusedMalformed},
		"page as an image":           {[]byte("<html><img src=x></html>"), refusedUnknown},
		"SVG":                        {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), refusedUnknown},
		"script in a comment":        {jpegOf(t, plain(8, 8, red), appSegment(0xFE, []byte("<?php phpinfo(); ?>"))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := inspected(t, row.file, Avatar)
			if row.want != "?" {
				require.Equal(t, string(row.want), report.Reason)
			}
		})
	}
}

// TestCostlyFilesAreRefused: a file that needs more than its processor time, in a library or in our own code, is soon refused for
// that reason, for every purpose.
func TestCostlyFilesAreRefused(t *testing.T) {
	t.Parallel()
	streams := append(page("", ""), slices.Repeat([]string{stream("/Filter/FlateDecode", deflate(make([]byte, maxDecoded)))}, 200)...)
	strokes := stream("/Filter/FlateDecode", deflate(bytes.Repeat([]byte("0 0 m 199 99 l S\n"), 1_500_000)))
	for name, content := range map[string][]byte{
		"drawing":  pdfOf("", append(page("", "/Contents 4 0 R"), strokes)...),
		"decoding": pdfOf("", streams...),
	} {
		for _, purpose := range []Purpose{Order, Portfolio} {
			if testing.Short() && (name == "drawing") != (purpose == Order) {
				continue
			}
			t.Run(name+" "+string(purpose), func(t *testing.T) {
				t.Parallel()
				report := inspected(t, content, purpose)
				require.Equal(t, Limited, report.Ending, report.Processor)
				require.Equal(t, string(refusedLimits), report.Reason)
			})
		}
	}
}

// manyScans repeats a JPEG's scan more often than a progressive picture needs.
func manyScans(t *testing.T) []byte {
	whole := jpegOf(t, plain(8, 8, red))
	scan := bytes.Index(whole, []byte{0xFF, markerScan})
	return slices.Concat(whole[:scan], bytes.Repeat(whole[scan:len(whole)-2], maxScans+1), whole[len(whole)-2:])
}

// TestCut cuts one file of each type at every sixteenth of its length, with -short at every quarter: no piece is accepted.
func TestCut(t *testing.T) {
	t.Parallel()
	m := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i >> 3)
	}
	for name, whole := range map[string][]byte{
		"JPEG": jpegOf(t, m),
		"PNG":  pngOf(t, m),
		"PDF":  pdfOf("", append(page("", "/Contents 4 0 R"), stream("", bytes.Repeat([]byte("0 0 9 9 re f "), 50)))...),
	} {
		require.True(t, inspected(t, whole, Order).Accepted)
		for sixteenth := range 16 {
			if testing.Short() && sixteenth%4 != 0 {
				continue
			}
			t.Run(name+" "+strconv.Itoa(sixteenth), func(t *testing.T) {
				t.Parallel()
				require.False(t, inspected(t, whole[:len(whole)*sixteenth/16], Order).Accepted)
			})
		}
	}
}

// TestPurposes: a PDF is refused as an image of the profile without being inspected, and so is a type that no purpose takes.
func TestPurposes(t *testing.T) {
	t.Parallel()
	for purpose := range purposes {
		report := inspected(t, pdfOf("", page("", "")...), purpose)
		require.Equal(t, purpose.takes(PDF), report.Accepted)
		require.Equal(t, PDF, report.MediaType)
	}
	_, err := new(Inspector).Inspect(t.Context(), Request{Original: open(t, filepath.Join("testdata", "corpus", "index.csv")), Purpose: "sticker"})
	require.Error(t, err)
}

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
// Purposes differ only in the types that they accept, which are checked first, so an image is fully inspected for one purpose. A
// PDF has two purposes, whose verdicts and reasons are the same. With -short it inspects the first file of each kind; with the
// race detector children are slow, so such a build inspects every tenth file.
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

// inspectedPlainly runs one inspection and returns its report without the files.
func inspectedPlainly(t *testing.T, path string, p Purpose) Report {
	report, err := new(Inspector).Inspect(t.Context(), Request{Original: open(t, path), Purpose: p})
	if !assert.NoError(t, err, path) {
		return Report{}
	}
	report.Preview, report.Published, report.Processor = nil, nil, 0
	return report
}
