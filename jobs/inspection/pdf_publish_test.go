package inspection

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublishedPDF: a PDF's information about its makers is not in its copy, however it is written; the content of pages and the
// names of form fields are.
func TestPublishedPDF(t *testing.T) {
	t.Parallel()
	xmp := stream("/Type/Metadata/Subtype/XML", []byte("<x:xmpmeta>secret</x:xmpmeta>"))
	form := "/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
	for name, row := range map[string]struct {
		objects []string
		keeps   string
	}{
		"author":                {append(page("", "/Annots[<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/T(secret)/Contents(shown)>>]"), xmp), "shown"},
		"author, indirect":      {append(page("", "/Annots[4 0 R]"), "<</Subtype/Highlight/Rect[0 0 9 9]/T 5 0 R/Contents(shown)>>", "(secret)"), "shown"},
		"author, escaped":       {append(page("", "/Annots 4 0 R"), "[<</Subtype/FreeText/#52ect[0 0 9 9]/#54(secret)/Contents(shown)>>]"), "shown"},
		"author of a reply":     {append(page("", "/Annots[<</Subtype/Text/Rect[0 0 9 9]/IRT 4 0 R/T(secret)>>]"), "<</Type/Annot/Subtype/Text/T(secret)/Contents(shown)>>"), "shown"},
		"rich text":             {page("", "/Annots[<</Subtype/FreeText/Rect[0 0 9 9]/RC(<body>secret</body>)/Contents(shown)>>]"), "shown"},
		"rich text, a stream":   {append(page("", "/Annots[<</Subtype/FreeText/Rect[0 0 9 9]/RC 4 0 R/Contents(shown)>>]"), stream("", []byte("secret"))), "shown"},
		"field":                 {append(page("/AcroForm<</Fields[4 0 R]>>", "/Annots[4 0 R]"), "<</FT/Tx/T(fieldname)/Subtype/Widget/Rect[0 0 9 9]>>"), "fieldname"},
		"OPI of an image":       {append(page("", "/Resources<</XObject<</I 4 0 R>>>>"), stream(form+"/OPI<</2.0<</F(secret.tif)/Type/OPI/Version 2.0>>>>", []byte("q Q"))), ""},
		"thumbnail":             {append(page("", "/Thumb 4 0 R"), stream("/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", []byte("secret"))), ""},
		"XMP of a thumbnail":    {append(page("", "/Thumb 4 0 R"), stream("/Metadata 5 0 R/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", []byte("x")), xmp), ""},
		"XMP of an image":       {append(page("", "/Resources<</XObject<</I 4 0 R>>>>"), stream(form+"/Metadata 5 0 R", []byte("q Q")), xmp), ""},
		"XMP of a font":         {append(page("", "/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Metadata 4 0 R>>>>>>"), xmp), ""},
		"private data":          {append(page("/PieceInfo<</X<</Private(secret)>>>>", "/Resources<</XObject<</I 4 0 R>>>>"), stream(form+"/PieceInfo<</X<</Private(secret)>>>>", []byte("q Q"))), ""},
		"private data, escaped": {page("/Piece#49nfo<</X<</Private(secret)>>>>", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := pdfOf("", row.objects...)
			report := inspected(t, file, Publication)
			require.True(t, report.Accepted, report.Reason)
			written := report.Published
			d, err := openPDF(written)
			require.NoError(t, err)
			var text bytes.Buffer
			for _, number := range d.numbers {
				o := d.ctx.Table[number].Object
				text.WriteString(o.String())
				if stream, ok := o.(interface{ Decode() error }); ok {
					require.NoError(t, stream.Decode())
				}
			}
			require.NotContains(t, text.String(), "secret")
			require.NotContains(t, string(written), "secret")
			require.Contains(t, text.String(), row.keeps)
		})
	}
}

// TestIndexBombs: the size of a cross-reference stream is bounded before pdfcpu expands it, whatever size it declares.
func TestIndexBombs(t *testing.T) {
	t.Parallel()
	const shape = "/Size 9/W[1 2 1]/Root 1 0 R"
	packed, twice := bomb(t, 1, 0), bomb(t, 2, 0)
	// pdf is a PDF whose cross-reference an object is.
	pdf := func(object, trailer string) []byte {
		whole := pdfOf("", append(page("", ""), object)...)
		at := bytes.Index(whole, []byte("4 0 obj"))
		return append(whole[:bytes.LastIndex(whole, []byte("xref\n0"))], bytes.ReplaceAll([]byte(trailer), []byte("AT"), []byte(strconv.Itoa(at)))...)
	}
	direct := "startxref\nAT\n%%EOF\n"
	for name, file := range map[string][]byte{
		"plain":            pdf(stream("/Type/XRef/Filter/FlateDecode"+shape, packed), direct),
		"without a type":   pdf(stream("/Filter/FlateDecode"+shape, packed), direct),
		"as an image":      pdf(stream("/Type/XObject/Subtype/Image/Filter/FlateDecode", packed), direct),
		"in a list":        pdf(stream("/Type/XRef/Filter[/FlateDecode]"+shape, packed), direct),
		"short name":       pdf(stream("/Type/XRef/Filter/Fl"+shape, packed), direct),
		"twice":            pdf(stream("/Type/XRef/Filter[/FlateDecode /FlateDecode]"+shape, twice), direct),
		"with a predictor": pdf(stream("/Type/XRef/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 4>>"+shape, packed), direct),
		"an earlier one":   pdf(stream("/Type/XRef/Filter/FlateDecode"+shape, packed), "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 5/Root 1 0 R/Prev AT>>\nstartxref\n9\n%%EOF\n"),
		"beside a table":   pdf(stream("/Type/XRef/Filter/FlateDecode"+shape, packed), "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 5/Root 1 0 R/XRefStm AT>>\nstartxref\n9\n%%EOF\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, refusedExpansion, scanPDF(file))
			if name == "plain" || !testing.Short() {
				require.Equal(t, string(refusedExpansion), inspected(t, file, Portfolio).Reason)
			}
		})
	}
	sound := pdf(stream("/Type/XRef/Filter/FlateDecode"+shape, deflate(make([]byte, 36))), direct)
	require.NoError(t, scanPDF(sound))
}

// FuzzIndexes: for any bytes, the walk over cross-references ends with a verdict.
func FuzzIndexes(f *testing.F) {
	f.Add([]byte("%PDF-1.7 1 0 obj<</Filter[/Fl/A85]>>stream\n\x78\x9c\x03\x00\x00\x00\x00\x01 startxref 9 /Prev 1%%EOF"))
	f.Add([]byte("1 0 obj<</Filter/FlateDecode/X[/Filter]>>stream\r\nx startxref 0"))
	f.Fuzz(func(t *testing.T, file []byte) {
		scan := pdfScan{file: file, effort: 8*len(file) + mebibyte, expansion: 2 * maxDecoded}
		if err := scan.indexes(); err != nil {
			require.IsType(t, refusal(""), err)
		}
	})
}
