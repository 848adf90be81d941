package inspectiontest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

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

// Progressive is a grey JPEG of one shade, side by side pixels, with 480 scans: one for each of 60 bands and 8 bits.
func Progressive(side uint16) []byte {
	frame := binary.BigEndian.AppendUint16([]byte{0xFF, 0xC2, 0, 11, 8}, side)
	frame = append(binary.BigEndian.AppendUint16(frame, side), 1, 1, 0x11, 0)
	// Two codes of two bits: 00 is a difference of 0 or the end of one block's band, 01 the end of 2^14 bands and more.
	table := append([]byte{0xFF, 0xC4, 0, 21, 0x10, 0, 2}, make([]byte, 14)...)
	blocks := (int(side) + 7) / 8 * ((int(side) + 7) / 8)
	const most = 1<<15 - 2
	ends := append(bytes.Repeat([]byte{0x7F, 0xFE}, blocks/most), make([]byte, (2*(blocks%most)+7)/8)...)
	file := slices.Concat([]byte{0xFF, 0xD8}, append([]byte{0xFF, 0xDB, 0, 67, 0}, bytes.Repeat([]byte{1}, 64)...), frame,
		append([]byte{0xFF, 0xC4, 0, 20, 0x00, 0, 1}, make([]byte, 15)...), append(table, 0, 0xE0),
		[]byte{0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0}, make([]byte, (2*blocks+7)/8))
	for low := byte(7); low < 8; low-- {
		high := (low + 1) << 4
		if low == 7 {
			high = 0
		}
		for band := byte(1); band <= 60; band++ {
			file = append(append(file, 0xFF, 0xDA, 0, 8, 1, 1, 0, band, band, high|low), ends...)
		}
	}
	return append(file, 0xFF, 0xD9)
}
