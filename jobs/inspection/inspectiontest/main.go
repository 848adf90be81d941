// Package inspectiontest makes a test binary the program that inspects files, for packages whose tests inspect files.
package inspectiontest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"strings"

	"stoa/jobs/inspection"
	"stoa/jobs/inspection/render"
)

// self is this very binary.
const self = "/proc/self/exe"

// Main ends a process that was started as a child, and lets others start this binary as one. TestMain calls it first.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == inspection.Subcommand {
		os.Exit(inspection.Main(os.Args[1:], render.Renderer{}))
	}
	inspection.UseProgram(self)
}

// Strokes is a PDF of some tens of kilobytes whose page is drawn with that many strokes.
func Strokes(n int) []byte {
	var content bytes.Buffer
	writer := zlib.NewWriter(&content) // writes to memory cannot fail
	_, _ = writer.Write(bytes.Repeat([]byte("0 0 m 199 99 l S\n"), n))
	_ = writer.Close()
	var file bytes.Buffer
	file.WriteString("%PDF-1.7\n")
	var index strings.Builder
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R>>",
		fmt.Sprintf("<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", content.Len(), content.Bytes()),
	} {
		fmt.Fprintf(&index, "%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := file.Len()
	fmt.Fprintf(&file, "xref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", index.String(), at)
	return file.Bytes()
}
