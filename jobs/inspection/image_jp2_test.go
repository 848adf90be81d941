package inspection

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// jp2 is a JPEG 2000 image of 40 by 30 pixels in four colours, with a comment in its codestream.
var jp2, _ = hex.DecodeString("0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a70326800000016696864720000001e" +
	"000000280003070700000000000f636f6c7201000000000010000000976a703263ff4fff51002f0000000000280000001e0000000000000000000000280000001e" +
	"00000000000000000003070101070101070101ff52000c00000001010204040001ff5c000a4040484850484850ff640012000173656372657420636f6d6d656e74" +
	"ff90000a00000000002c0001ff93c9c0140053f043b9ca80fa6030ce50a6d6fa6c04079220c4808080808080ffd9")

// The offsets of jp2's header box, the last box in it, its stream box and its codestream.
const (
	jp2Header = 32
	jp2Colour = 62
	jp2Stream = 77
	jp2Code   = 85
)

func box(kind string, content ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(boxHead+len(content))), kind...), content...)
}

// secretiveJP2 is jp2 with boxes about its origin in all places where boxes may stand, and bytes behind its end.
func secretiveJP2() []byte {
	header := append(bytes.Clone(jp2[jp2Header+boxHead:jp2Stream]), box("uuid", []byte("secret in the header")...)...)
	return slices.Concat(jp2[:jp2Header], box("xml ", []byte("<x:xmpmeta>secret</x:xmpmeta>")...), box("jp2h", header...),
		box("uuid", []byte("JpgTiffExif->JP2Exif\x00\x00secret")...), box("asoc", box("lbl ", []byte("secret")...)...),
		box("jp2c", append(bytes.Clone(jp2[jp2Code:]), "secret"...)...), box("jp2i", []byte("secret")...))
}

// TestPublishedJPEG2000: a published PDF does not reveal the origin of its JPEG 2000 images, and they look as before.
func TestPublishedJPEG2000(t *testing.T) {
	t.Parallel()
	image := func(filter string, data []byte) string {
		return stream("/Type/XObject/Subtype/Image/Width 40/Height 30/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter"+filter, data)
	}
	for name, object := range map[string]string{
		"file":                  image("/JPXDecode", secretiveJP2()),
		"deflated":              image("[/FlateDecode/JPXDecode]", deflate(secretiveJP2())),
		"codestream":            image("/JPXDecode", jp2[jp2Code:]),
		"line feed":             image("/JPXDecode", append(secretiveJP2(), '\n')),
		"codestream, line feed": image("/JPXDecode", append(bytes.Clone(jp2[jp2Code:]), '\n')),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw := stream("", []byte("q 90 0 0 90 0 0 cm /I Do Q"))
			report := inspectedAndPublished(t, pdfOf("", append(page("", "/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>"), draw, object)...), Portfolio)
			require.True(t, report.Accepted, report.Reason)
			written := report.Published
			requireClean(t, written)
			d := graphtest.Got(openPDF(written))(t)
			require.True(t, slices.ContainsFunc(d.numbers, func(number int) bool {
				s, ok := d.ctx.Table[number].Object.(types.StreamDict)
				return ok && bytes.Contains(s.Raw, []byte(codestreamStart))
			}))
			again := accepted(t, inspected(t, written, Portfolio))
			before, after := shown(t, report.Preview), shown(t, again.Preview)
			for _, at := range [][2]int{{100, 100}, {100, 350}, {300, 100}, {300, 350}, {700, 350}} {
				require.Equal(t, before.At(at[0], at[1]), after.At(at[0], at[1]), "%v", at)
			}
			near(t, white, after, 700, 350)
			require.NotEqual(t, after.At(100, 350), after.At(300, 350), "the image is displayed")
		})
	}
}

func TestStripJP2(t *testing.T) {
	t.Parallel()
	plainly := bytes.Replace(jp2, []byte("\x00\x01secret comment"), make([]byte, 16), 1)
	tile := bytes.Index(jp2, []byte{0xFF, markerTile})
	patched := func(at int, with ...byte) []byte { return overwritten(jp2, at, with...) }
	for name, row := range map[string]struct {
		in, want []byte // nil: refused
	}{
		"comment":                    {jp2, plainly},
		"codestream":                 {jp2[jp2Code:], plainly[jp2Code:]},
		"unknown segment":            {patched(tile-20, 0xFF, 0x71), plainly},
		"tile of unknown length":     {patched(tile+6, 0, 0, 0, 0), overwritten(plainly, tile+6, 0, 0, 0, 0)},
		"stream box to the end":      {patched(jp2Stream, 0, 0, 0, 0), overwritten(plainly, jp2Stream, 0, 0, 0, 0)},
		"a line feed behind":         {append(bytes.Clone(jp2), '\n'), append(bytes.Clone(plainly), 0)},
		"codestream, a byte behind":  {append(bytes.Clone(jp2[jp2Code:]), 'x'), append(bytes.Clone(plainly[jp2Code:]), 0)},
		"text behind":                {append(bytes.Clone(jp2), "secret, more than a head"...), append(bytes.Clone(plainly), make([]byte, 24)...)},
		"box cut behind":             {append(bytes.Clone(jp2), "\x00\x00\x01\x00xml secret"...), append(bytes.Clone(plainly), make([]byte, 14)...)},
		"cut in a tile":              {jp2[jp2Code : len(jp2)-10], plainly[jp2Code : len(plainly)-10]},
		"no image":                   {[]byte("hello"), nil},
		"no codestream":              {jp2[:jp2Stream], nil},
		"box beyond the end":         {patched(jp2Stream, 0, 0, 1, 0), nil},
		"box shorter than its head":  {patched(jp2Colour, 0, 0, 0, 7), nil},
		"segment beyond the end":     {patched(tile-18, 0xFF, 0xFF), nil},
		"segment without a length":   {patched(tile-18, 0, 0), nil},
		"tile within its own header": {patched(tile+6, 0, 0, 0, 3), nil},
		"no segment":                 {patched(tile-20, 0), nil},
		"cut in a header":            {jp2[jp2Code : tile-3], nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := stripJP2(row.in)
			if row.want == nil {
				require.Equal(t, refusedMalformed, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
	clean := graphtest.Got(stripJP2(secretiveJP2()))(t)
	require.Len(t, clean, len(secretiveJP2()))
	requireClean(t, clean)
	file := pdfOf("", append(page("", "/Contents 4 0 R"), stream("", []byte("BI /W 40/H 30/F/JPXDecode ID "+string(jp2)+"\nEI")))...)
	require.Equal(t, string(refusedImage), inspected(t, file, Portfolio).Reason, "a content stream cannot hold one")
}

func overwritten(b []byte, at int, with ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], with)
	return b
}

// FuzzStripJP2: for any bytes, stripping keeps their number, and stripping again changes nothing.
func FuzzStripJP2(f *testing.F) {
	f.Add(jp2)
	f.Add(secretiveJP2())
	f.Add(jp2[jp2Code:])
	f.Fuzz(func(t *testing.T, file []byte) {
		clean, err := stripJP2(file)
		if err != nil {
			require.Equal(t, refusedMalformed, err)
			return
		}
		require.Len(t, clean, len(file))
		require.Equal(t, clean, graphtest.Got(stripJP2(clean))(t))
	})
}
