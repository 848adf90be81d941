package inspection

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// utf16Of is a text in UTF-16 with its mark.
func utf16Of(text string) string {
	out := "\xFE\xFF"
	for _, unit := range utf16.Encode([]rune(text)) {
		out += string([]byte{byte(unit >> 8), byte(unit)})
	}
	return out
}

// unread is a string that pdfcpu and other readers read differently.
const unread = "hex with a space within a byte"

// straying are spellings of links that are refused, as values of /URI.
var straying = map[string]string{
	"script":               "(javascript:app.alert(1))",
	"capitals":             "(JaVaScRiPt:alert(1))",
	"space before":         "( \t\r\n javascript:alert(1))",
	"control before":       "(\\001javascript:alert(1))",
	"line feed within":     "(java\\nscript:alert(1))",
	"tab within":           "(java\tscript\t:alert(1))",
	"octal":                "(\\152\\141\\166\\141script\\72alert(1))",
	"short octal":          "(\\1java\\0script:alert(1))",
	"needless escapes":     "(\\j\\avascript:alert(1))",
	"line goes on":         "(java\\\nscript:alert(1))",
	"line goes on, CRLF":   "(java\\\r\nscript:alert(1))",
	"hex":                  "<" + hex.EncodeToString([]byte("javascript:alert(1)")) + ">",
	"hex with spaces":      "<6A 61 76\n61 73637269 70743A>",
	"odd hex":              "<6A6176617363726970743A3>",
	unread:                 "<6A61766173637269707 43A3>",
	"UTF-16":               "(" + utf16Of("javascript:alert") + ")",
	"UTF-16 in hex":        "<" + hex.EncodeToString([]byte(utf16Of("javascript:alert"))) + ">",
	"UTF-16, little":       "<FFFE6A006100760061007300630072006900700074003A00>",
	"UTF-16 without mark":  "<006A00610076006100730063007200690070007400 3A>",
	"UTF-8 mark":           "<EFBBBF" + hex.EncodeToString([]byte("javascript:alert(1)")) + ">",
	"zero width within":    "<FEFF006A200B006100760061007300630072006900700074003A>",
	"percent":              "(%6aavascript%3Aalert(1))",
	"a name":               "/javascript:alert",
	"an escaped name":      "/#6Aavascript#3Aalert",
	"other script":         "(vbscript:x)",
	"data":                 "(data:text/html,x)",
	"file":                 "(file:///etc/passwd)",
	"transfer":             "(ftp://example.org/)",
	"telephone":            "(tel:+123)",
	"drive":                "(C:\\\\x.exe)",
	"share":                "(\\\\\\\\host\\\\share)",
	"host without scheme":  "(//host/share)",
	"no scheme to a colon": "(:alert)",
}

// TestStrayingLinks: each spelling is refused by the scan over the bytes and by the walk over the objects, as a link, as a base
// address, and as a separate object.
func TestStrayingLinks(t *testing.T) {
	t.Parallel()
	for name, value := range straying {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			action := "<</Type/Action/S/URI/URI %s>>"
			direct := append(page("", "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A 4 0 R>>]"), fmt.Sprintf(action, value))
			indirect := append(page("", ""), fmt.Sprintf(action, "5 0 R"), value)
			base := page("/URI<</Base "+value+">>", "")
			escaped := append(page("", ""), fmt.Sprintf("<</S/#55RI/#55#52I %s>>", value))
			for form, objects := range map[string][]string{"direct": direct, "indirect": indirect, "base": base, "escaped": escaped} {
				file := pdfOf("", objects...)
				if form != "indirect" {
					require.Equal(t, refusedLink, scanPDF(file), form)
				}
				d, err := openPDF(file)
				require.NoError(t, err, form)
				if name != unread {
					require.Equal(t, refusedLink, d.check(), form)
				}
			}
			want := refusedLink
			if name == unread {
				want = refusedMalformed
			}
			_, err := inspection{}.file(pdfOf("", indirect...), request{Purpose: Order})
			require.Equal(t, want, err)
			packed := "4 0 " + fmt.Sprintf(action, value)
			packed = stream("/Type/ObjStm/N 1/First 4/Filter/FlateDecode", deflate([]byte(packed)))
			require.Equal(t, refusedLink, scanPDF(pdfOf("", append(page("", ""), packed)...)), "in an object stream")
		})
	}
}

// TestLinks: the links that a PDF may have.
func TestLinks(t *testing.T) {
	t.Parallel()
	links := []string{
		"(http://example.org/a:b?c#d)", "(HTTPS://example.org)", "(mailto:a@example.org?subject=javascript:)", "( https://example.org)",
		"(www.example.org)", "(page.html#javascript:x)", "(a/b:c)", "(/a:b)", "(#top)", "()", "(?q=a:b)", "/a.html", "null",
		"<" + hex.EncodeToString([]byte(utf16Of("https://example.org/\u00fc"))) + ">",
	}
	var actions strings.Builder
	for _, link := range links {
		actions.WriteString("<</S/URI/URI " + link + ">>")
	}
	file := pdfOf("", append(page("/URI<</Base(https://example.org/)>>/Names<</Base/URI/URI<</Base/x>>>>", ""), "["+actions.String()+"]")...)
	accepted(t, inspected(t, file, Order))
}

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
			report := accepted(t, inspected(t, file, Publication))
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

// TestIndexBombs: a cross-reference stream that expands beyond the child's memory is refused within its limits.
func TestIndexBombs(t *testing.T) {
	t.Parallel()
	const earlier = "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 5/Root 1 0 R/Prev AT>>\nstartxref\n9\n%%EOF\n"
	for index, want := range map[string]refusal{"startxref\nAT\n%%EOF\n": refusedLimits, earlier: refusedExpansion} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			packed := stream("/Type/XRef/Filter/FlateDecode/Size 9/W[1 2 1]/Root 1 0 R", bombOf(t, 400, 1, 0))
			whole := pdfOf("", append(page("", ""), packed)...)
			at := strconv.Itoa(bytes.Index(whole, []byte("4 0 obj")))
			whole = append(whole[:bytes.LastIndex(whole, []byte("xref\n0"))], strings.ReplaceAll(index, "AT", at)...)
			require.Equal(t, string(want), inspected(t, whole, Portfolio).Reason)
		})
	}
}
