package inspection

import (
	"bufio"
	"bytes"
	"encoding/ascii85"
	"encoding/hex"
	"image/jpeg"
	"slices"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// secretive is a JPEG that reveals its origin in every segment that can.
func secretive(t *testing.T) []byte {
	return jpegOf(t, waves(40, 30),
		exif(1),
		appSegment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta>secret</x:xmpmeta>")),
		appSegment(0xED, []byte("Photoshop 3.0\x008BIM secret")),
		appSegment(0xFE, []byte("secret comment")),
		appSegment(0xEB, []byte("JP secret provenance")),
		appSegment(0xE2, []byte("MPF\x00secret")),
		withProfile(tablesProfile),
		appSegment(0xEE, []byte("Adobe\x00\x64\x00\x00\x00\x00\x01")))
}

// secrets are texts that must not be in a published file; exif writes GPS with an N.
var secrets = []string{"secret", "Exif", "xmpmeta", "Photoshop"}

func requireClean(t *testing.T, b []byte) {
	t.Helper()
	for _, sign := range secrets {
		require.NotContains(t, string(b), sign)
	}
}

// pixelsOf decodes the first JPEG in b.
func pixelsOf(t *testing.T, b []byte) []byte {
	t.Helper()
	begin := bytes.Index(b, jpegMagic)
	require.GreaterOrEqual(t, begin, 0)
	m := graphtest.Got(jpeg.Decode(bytes.NewReader(b[begin:])))(t)
	require.Equal(t, 40, m.Bounds().Dx())
	var raw []byte
	for y := range 30 {
		for x := range 40 {
			r, g, b, _ := m.At(x, y).RGBA()
			raw = append(raw, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	return raw
}

func in85(b []byte) []byte {
	var out bytes.Buffer
	w := ascii85.NewEncoder(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return append(out.Bytes(), "~>"...)
}

func inHex(b []byte) []byte { return append([]byte(hex.EncodeToString(b)), '>') }

// inObjectStreams rewrites a PDF, with all its content, using object streams.
func inObjectStreams(t *testing.T, file []byte) []byte {
	t.Helper()
	d := graphtest.Got(openPDF(file))(t)
	var out bytes.Buffer
	d.ctx.Write.Writer = bufio.NewWriter(&out)
	require.NoError(t, pdfcpu.WriteContext(d.ctx))
	require.NoError(t, d.ctx.Write.Flush())
	require.Contains(t, out.String(), "/ObjStm")
	require.Contains(t, out.String(), "Exif")
	return out.Bytes()
}

// TestPublishedImages: a published PDF does not reveal the origin of its JPEGs, wherever they are and however they are encoded,
// and they look as before.
func TestPublishedImages(t *testing.T) {
	t.Parallel()
	original := secretive(t)
	const shape = "/Type/XObject/Subtype/Image/Width 40/Height 30/BitsPerComponent 8/ColorSpace/DeviceRGB"
	image := func(filter string, data []byte) string { return stream(shape+"/Filter"+filter, data) }
	use := "/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>"
	draw := stream("", []byte("q 90 0 0 90 0 0 cm /I Do Q"))
	inline := func(filter string, data []byte, more string) string {
		return "q 90 0 0 90 0 0 cm BI /W 40/H 30/BPC 8/CS/RGB " + filter + " ID " + string(data) + "\nEI Q " + more
	}
	form := "/Type/XObject/Subtype/Form/BBox[0 0 200 100]"
	for name, objects := range map[string][]string{
		"image":             append(page("", use), draw, image("/DCTDecode", original)),
		"in object streams": append(page("", use), draw, image("/DCTDecode", original)),
		"image, short name": append(page("", use), draw, image("/DCT", original)),
		"in a list":         append(page("", use), draw, image("[/DCTDecode]", original)),
		"deflated":          append(page("", use), draw, image("[/FlateDecode/DCTDecode]/DecodeParms[null<</ColorTransform 1>>]", deflate(original))),
		"in ASCII":          append(page("", use), draw, image("[/ASCII85Decode/FlateDecode/DCTDecode]", in85(deflate(original)))),
		"soft mask": append(page("", use), draw, image("/DCTDecode/SMask 6 0 R", original),
			stream("/Type/XObject/Subtype/Image/Width 40/Height 30/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/DCTDecode", original)),
		"in a form": append(page("", use), draw, stream(form+"/Resources<</XObject<</I 6 0 R>>>>", []byte("q 90 0 0 90 0 0 cm /I Do Q")),
			image("/DCTDecode", original)),
		"more behind it":     append(page("", use), draw, image("/DCTDecode", slices.Concat(original, original))),
		"inline":             append(page("", "/Contents 4 0 R"), stream("", []byte(inline("/F/DCT", original, "1 0 0 rg 150 0 50 50 re f")))),
		"inline, deflated":   append(page("", "/Contents 4 0 R"), stream("/Filter/FlateDecode", deflate([]byte(inline("/Filter/DCTDecode", original, ""))))),
		"inline, in ASCII":   append(page("", "/Contents 4 0 R"), stream("", []byte(inline("/F[/A85/DCT]", in85(original), "")))),
		"inline, in hex":     append(page("", "/Contents 4 0 R"), stream("", []byte(inline("/F[/AHx/DCT]", inHex(original), "")))),
		"inline, in deflate": append(page("", "/Contents 4 0 R"), stream("", []byte(inline("/F[/Fl/DCT]/DP[null null]", deflate(original), "")))),
		"inline, escaped":    append(page("", "/Contents 4 0 R"), stream("", []byte(inline("/F/#44CT", original, "")))),
		"inline, the second": append(page("", "/Contents 4 0 R"), stream("", []byte(inline("", make([]byte, 3*1200), inline("/F/DCT", original, ""))))),
		"inline, in a form":  append(page("", use), draw, stream(form, []byte(inline("/F/DCT", original, "")))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := pdfOf("", objects...)
			if name == "in object streams" {
				file = inObjectStreams(t, file)
			}
			report := accepted(t, inspectedAndPublished(t, file, Portfolio))
			written := report.Published
			requireClean(t, written)
			d := graphtest.Got(openPDF(written))(t)
			var found int
			for _, number := range d.numbers {
				s, ok := d.ctx.Table[number].Object.(types.StreamDict)
				if !ok {
					continue
				}
				require.NoError(t, s.DecodeWithLimit(maxDecoded))
				requireClean(t, s.Content)
				if bytes.Contains(s.Content, jpegMagic) {
					found++
					require.Equal(t, pixelsOf(t, original), pixelsOf(t, s.Content))
					require.Contains(t, string(s.Content), "ICC_PROFILE")
					require.Contains(t, string(s.Content), "Adobe")
				}
			}
			require.Positive(t, found)
			again := accepted(t, inspected(t, written, Portfolio))
			before, after := shown(t, report.Preview), shown(t, again.Preview)
			for _, at := range [][2]int{{100, 300}, {300, 200}, {650, 350}, {780, 50}} {
				require.Equal(t, before.At(at[0], at[1]), after.At(at[0], at[1]), "%v", at)
			}
		})
	}
}

// TestUnreachableImages: a PDF whose JPEG cannot be stripped is refused for that reason, for every purpose.
func TestUnreachableImages(t *testing.T) {
	t.Parallel()
	original := secretive(t)
	hidden := jpegOf(t, waves(40, 30), appSegment(0xE0, []byte("JFIF\x00Exif\x00\x00")))
	for name, content := range map[string]string{
		"in a segment that stays": stream("/Type/XObject/Subtype/Image/Width 40/Height 30/Filter/DCTDecode", hidden),
		"in a damaged stream":     stream("/Type/XObject/Subtype/Image/Width 40/Height 30/Filter[/FlateDecode/DCTDecode]", original),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := pdfOf("", append(page("", "/Resources<</XObject<</I 4 0 R>>>>"), content)...)
			for _, purpose := range []Purpose{Portfolio, Order} {
				require.Equal(t, string(refusedImage), inspected(t, file, purpose).Reason)
			}
		})
	}
}

// TestStripJPEG: stripping removes the private segments and nothing else.
func TestStripJPEG(t *testing.T) {
	t.Parallel()
	plainly := jpegOf(t, waves(40, 30))
	for name, row := range map[string]struct {
		in, want []byte
		length   int
	}{
		"nothing private":    {plainly, plainly, len(plainly)},
		"private":            {jpegOf(t, waves(40, 30), exif(1), appSegment(0xFE, []byte("x"))), plainly, 0},
		"something before":   {append([]byte("\r\n"), plainly...), plainly, 0},
		"something behind":   {append(bytes.Clone(plainly), exif(1)...), plainly, len(plainly)},
		"no end":             {plainly[:len(plainly)-2], plainly[:len(plainly)-2], 0},
		"damaged structure":  {jpegOf(t, waves(40, 30), []byte("\xFF\x01"), exif(1)), jpegOf(t, waves(40, 30), []byte("\xFF\x01")), 0},
		"cut in a segment":   {plainly[:30], plainly[:30], 0},
		"no picture":         {[]byte("hello"), []byte("hello"), 0},
		"comment after scan": {slices.Concat(plainly[:len(plainly)-2], appSegment(0xFE, []byte("x")), plainly[len(plainly)-2:]), plainly, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, length, err := stripJPEG(row.in)
			require.NoError(t, err)
			require.Equal(t, row.want, got)
			if row.length > 0 {
				require.Equal(t, row.length, length)
			}
		})
	}
}

// FuzzStripJPEG: for any bytes, the result of stripping is no longer, has no private block, does not change when stripped again,
// and shows the same picture.
func FuzzStripJPEG(f *testing.F) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, plain(8, 8, red), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(append(append(bytes.Clone(b.Bytes()[:2]), exif(6)...), b.Bytes()[2:]...))
	f.Add([]byte("\xFF\xD8\xFF\xFE\x00\x03x\xFF\xDA\x00\x02\x01\xFF\x00\xFF\xD0\xFF\xE1\x00\x04ab\xFF\xD9\xFF\xD9"))
	f.Fuzz(func(t *testing.T, file []byte) {
		clean, length, err := stripJPEG(file)
		if err != nil {
			require.Equal(t, refusedMalformed, err)
			return
		}
		require.LessOrEqual(t, len(clean), length)
		require.LessOrEqual(t, length, len(file))
		require.NoError(t, private(clean))
		again, _, err := stripJPEG(clean)
		require.NoError(t, err)
		require.Equal(t, clean, again)
	})
}

// FuzzStripInline: for any content, reading it ends, and stripping again changes nothing.
func FuzzStripInline(f *testing.F) {
	f.Add([]byte("q BI /W 1/H 1/F/DCT ID \xFF\xD8\xFF\xFE\x00\x03x\xFF\xDA\x00\x02\x01\xFF\xD9\nEI Q"))
	f.Add([]byte("BI/F[/AHx/DCT]ID ffd8fffe000378ffda00020101ffd9>EI BI /F#20 (\\)) ID"))
	f.Add([]byte("BI /D<</A[1]>> /DCT /F ID EI EI\nBI ID"))
	f.Fuzz(func(t *testing.T, content []byte) {
		clean, err := stripInline(content)
		if err != nil {
			require.IsType(t, refusal(""), err)
			return
		}
		require.Equal(t, clean, graphtest.Got(stripInline(clean))(t))
	})
}
