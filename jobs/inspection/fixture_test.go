package inspection

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// jpegOf encodes a picture and puts segments right behind the start marker.
func jpegOf(t *testing.T, m image.Image, segments ...[]byte) []byte {
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	whole := append([]byte{}, b.Bytes()[:2]...)
	for _, s := range segments {
		whole = append(whole, s...)
	}
	return append(whole, b.Bytes()[2:]...)
}

func pngOf(t *testing.T, m image.Image) []byte {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// chunk makes a PNG chunk with its right checksum.
func chunk(kind string, data ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// header makes a PNG's IHDR of 8 bits a sample.
func header(width, height uint32, colour byte) []byte {
	data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return chunk("IHDR", append(data, 8, colour, 0, 0, 0)...)
}

// pngFrom joins chunks behind the signature.
func pngFrom(chunks ...[]byte) []byte {
	return append(append([]byte{}, pngMagic...), bytes.Join(chunks, nil)...)
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// bomb is 64 MiB of one byte, deflated the given number of times.
func bomb(t *testing.T, times int, fill byte) []byte { return bombOf(t, 64, times, fill) }

// bombOf is a bomb of a size in MiB, made without ever holding them in memory. Rows share equal bombs.
func bombOf(t *testing.T, size, times int, fill byte) []byte {
	made, _ := bombs.LoadOrStore([3]int{size, times, int(fill)}, sync.OnceValue(func() []byte {
		var b bytes.Buffer
		var w io.Writer = &b
		var layers []io.Closer
		for range times {
			layer := zlib.NewWriter(w)
			w, layers = layer, append(layers, layer)
		}
		block := bytes.Repeat([]byte{fill}, mebibyte)
		for range size {
			graphtest.OK(t)(w.Write(block))
		}
		for i := range layers {
			require.NoError(t, layers[len(layers)-1-i].Close())
		}
		return b.Bytes()
	}))
	return made.(func() []byte)()
}

var bombs sync.Map

func zipOf(t *testing.T) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	graphtest.OK(t)(graphtest.Got(w.Create("evil.txt"))(t).Write([]byte("not an image")))
	require.NoError(t, w.Close())
	return b.Bytes()
}

// plain is a small picture of one colour.
func plain(width, height int, c color.Color) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, c)
		}
	}
	return m
}

// page is a PDF's objects 1 to 3: a catalog, a page tree and one page, with more entries for the first and the last.
func page(catalog, leaf string) []string {
	return []string{
		"<</Type/Catalog/Pages 2 0 R" + catalog + ">>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]" + leaf + ">>",
	}
}

// stream is a PDF stream object with the given entries.
func stream(entries string, data []byte) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(data), data)
}

// pdfOf writes numbered objects with a right cross-reference; object 1 is the catalog.
func pdfOf(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, at)
	return b.Bytes()
}

// file is an original with these bytes.
func file(t *testing.T, content []byte) *os.File {
	path := filepath.Join(t.TempDir(), "original")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return open(t, path)
}

func open(t *testing.T, path string) *os.File {
	f := graphtest.Got(os.Open(path))(t)
	t.Cleanup(func() { _ = f.Close() }) // a test may have closed it
	return f
}

// inspected runs one inspection of bytes.
func inspected(t *testing.T, content []byte, p Purpose) Report {
	report, state, err := new(Inspector).run(t.Context(), Request{Original: file(t, content), Purpose: p})
	require.NoError(t, err)
	within(t, state)
	if !report.Accepted {
		require.NotEmpty(t, report.Reason)
		require.Empty(t, report.Preview)
		require.Empty(t, report.Published)
	}
	return report
}

// inspectedAndPublished is inspected, with the published version of an accepted file even if the preview serves as one.
func inspectedAndPublished(t *testing.T, content []byte, p Purpose) Report {
	report := inspected(t, content, p)
	if report.Accepted && len(report.Published) == 0 {
		again := accepted(t, inspected(t, content, Publication))
		require.Equal(t, [3]int{report.Width, report.Height, report.Pages}, [3]int{again.Width, again.Height, again.Pages})
		report.Published = again.Published
	}
	return report
}

// accepted requires that an inspection has accepted its file.
func accepted(t *testing.T, report Report) Report {
	t.Helper()
	require.True(t, report.Accepted, report.Reason)
	return report
}

// shown decodes a preview or a published image, and requires that it has only the segments or chunks that a decoder needs: all
// others would be metadata.
func shown(t *testing.T, content []byte) image.Image {
	t.Helper()
	if bytes.HasPrefix(content, pngMagic) {
		for _, kind := range chunksOf(t, content) {
			require.Contains(t, []string{"IHDR", "PLTE", "tRNS", "IDAT", "IEND"}, kind)
		}
		return graphtest.Got(png.Decode(bytes.NewReader(content)))(t)
	}
	for at := 2; ; {
		marker, body, next, err := segment(content, at)
		require.NoError(t, err)
		at = next
		if marker == markerScan {
			break
		}
		metadata := marker == 0xFE || marker >= 0xE0 && marker <= 0xEF && !strings.HasPrefix(string(body), "JFIF")
		require.False(t, metadata, "segment %X %q", marker, body)
	}
	return graphtest.Got(jpeg.Decode(bytes.NewReader(content)))(t)
}

// chunksOf are the kinds of a PNG's chunks, in order.
func chunksOf(t *testing.T, file []byte) (kinds []string) {
	t.Helper()
	for rest := file[len(pngMagic):]; len(rest) > 0; {
		require.GreaterOrEqual(t, len(rest), chunkHead+chunkTail)
		kinds = append(kinds, string(rest[4:chunkHead]))
		rest = rest[chunkHead+int(binary.BigEndian.Uint32(rest))+chunkTail:]
	}
	return kinds
}

// onWhite is a pixel's colour as a page shows it.
func onWhite(m image.Image, x, y int) color.RGBA {
	r, g, b, a := m.At(x, y).RGBA()
	on := func(v uint32) uint8 { return uint8((v + 0xFFFF - a) >> 8) }
	return color.RGBA{on(r), on(g), on(b), 255}
}

// near requires a pixel's colour on white, within the loss of JPEG.
func near(t *testing.T, want color.RGBA, m image.Image, x, y int) {
	t.Helper()
	got := onWhite(m, x, y)
	require.InDelta(t, want.R, got.R, 20, "%v", got)
	require.InDelta(t, want.G, got.G, 20, "%v", got)
	require.InDelta(t, want.B, got.B, 20, "%v", got)
}

var (
	red   = color.RGBA{255, 0, 0, 255}
	green = color.RGBA{0, 255, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
	white = color.RGBA{255, 255, 255, 255}
)
