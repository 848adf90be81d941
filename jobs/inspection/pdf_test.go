package inspection

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// annotated is a PDF whose one page bears an annotation.
func annotated(annotation string, more ...string) []byte {
	return pdfOf("", append(page("", "/Annots[<<"+annotation+"/Rect[0 0 9 9]>>]"), more...)...)
}

// tree is a PDF with its own page tree: object 2 and the next ones.
func tree(objects ...string) []byte {
	return pdfOf("", append([]string{"<</Type/Catalog/Pages 2 0 R>>"}, objects...)...)
}

// leaves is a page tree of n pages that declares count of them.
func leaves(n, count int) []byte {
	objects := []string{fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", count, strings.Repeat("3 0 R ", min(n, 1)))}
	kids := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&kids, "%d 0 R ", i+3)
		objects = append(objects, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>")
	}
	objects[0] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", count, kids.String())
	return tree(objects...)
}

// TestPDF inspects small PDFs, each with one peculiarity. Those that are accepted or expand go through the whole child.
func TestPDF(t *testing.T) {
	t.Parallel()
	const plainPage = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
	packed := deflate([]byte("4 0 <</S/JavaScript/JS(app.alert)>>"))
	for name, row := range map[string]struct {
		file []byte
		want refusal
	}{
		"static":                    {pdfOf("", page("", "")...), ""},
		"version 1.8":               {bytes.Replace(pdfOf("", page("", "")...), []byte("%PDF-1.7"), []byte("%PDF-1.8"), 1), ""},
		"link":                      {annotated("/Subtype/Link/A<</S/URI/URI(http://example.org)>>"), ""},
		"form field":                {pdfOf("", append(page("/AcroForm<</Fields[4 0 R]>>", "/Annots[4 0 R]"), "<</FT/Tx/T(a)/Subtype/Widget/Rect[0 0 9 9]>>")...), ""},
		"opens at a page":           {pdfOf("", page("/OpenAction[3 0 R/Fit]", "")...), ""},
		"opens by going":            {pdfOf("", page("/OpenAction<</S/GoTo/D[3 0 R/Fit]/Next[<</S/GoTo/D(x)>>]>>", "")...), ""},
		"goes when opened":          {pdfOf("", page("", "/AA<</O<</S/GoTo/D[3 0 R/Fit]>>>>")...), ""},
		"font named JS":             {pdfOf("", page("", "/Resources<</Font<</JS<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>/AA<</Type/Font>>>>>>")...), ""},
		"script on opening":         {pdfOf("", page("/OpenAction<</S/JavaScript/JS(app.alert)>>", "")...), refusedActive},
		"script, escaped":           {annotated("/Subtype/Link/A<</S/J#61vaScript/J#53(app.alert)>>"), refusedActive},
		"script, referred to":       {annotated("/Subtype/Link/A<</S 4 0 R/#4AS 5 0 R>>", "/JavaScript", "(app.alert)"), refusedActive},
		"script in a stream":        {annotated("/Subtype/Link/A<</S/Named/JS 4 0 R>>", stream("", []byte("app.alert"))), refusedActive},
		"script by name":            {pdfOf("", page("/Names<</JavaScript<</Names[(a)4 0 R]>>>>", "")...), refusedActive},
		"script nobody refers to":   {pdfOf("", append(page("", ""), "<</S/JavaScript/JS(app.alert)>>")...), refusedActive},
		"script in an earlier part": {append([]byte("%PDF-1.7\n9 0 obj<</S/JavaScript/JS(app.alert)>>endobj\n"), pdfOf("", page("", "")...)...), refusedActive},
		"script in a lost stream":   {append([]byte("%PDF-1.7\n9 0 obj"+stream("/Type/ObjStm/N 1/First 4/Filter/FlateDecode", packed)+"endobj\n"), pdfOf("", page("", "")...)...), refusedActive},
		"script behind a string":    {append([]byte("%PDF-1.7\n8 0 obj(never closed\n9 0 obj<</S/JavaScript>>endobj\n"), pdfOf("", page("", "")...)...), refusedActive},
		"script next":               {pdfOf("", page("/OpenAction<</S/GoTo/D[3 0 R/Fit]/Next<</S/Named/N/Print>>>>", "")...), refusedActive},
		"prints on opening":         {pdfOf("", page("/OpenAction<</S/Named/N/Print>>", "")...), refusedActive},
		"acts when closed":          {pdfOf("", page("/AA<</WC<</S/URI/URI(http://example.org)>>>>", "")...), refusedActive},
		"launches":                  {annotated("/Subtype/Link/A<</S/Launch/F(calc.exe)>>"), refusedActive},
		"submits":                   {annotated("/Subtype/Widget/A<</S/SubmitForm/F(http://example.org)>>"), refusedActive},
		"imports":                   {annotated("/Subtype/Widget/A<</S/ImportData/F(x)>>"), refusedActive},
		"goes elsewhere":            {annotated("/Subtype/Link/A<</S/GoToR/F(x.pdf)/D[0/Fit]>>"), refusedActive},
		"goes into a file":          {annotated("/Subtype/Link/A<</S/GoToE/D[0/Fit]>>"), refusedActive},
		"plays":                     {annotated("/Subtype/Screen/A<</S/Rendition/OP 0>>"), refusedActive},
		"sounds":                    {annotated("/Subtype/Sound/Sound 4 0 R", stream("", nil)), refusedActive},
		"movie":                     {annotated("/Subtype/Movie/Movie<<>>"), refusedActive},
		"rich media":                {annotated("/Subtype/RichMedia"), refusedActive},
		"three dimensions":          {annotated("/Subtype/3D"), refusedActive},
		"attached to a page":        {annotated("/Subtype/FileAttachment/FS<</Type/Filespec/F(a)>>"), refusedActive},
		"attached file":             {pdfOf("", append(page("/AF[4 0 R]", ""), "<</Type/Filespec/F(a)/EF<</F 5 0 R>>>>", stream("", nil))...), refusedActive},
		"attached by name":          {pdfOf("", page("/Names<</EmbeddedFiles<</Names[]>>>>", "")...), refusedActive},
		"XFA":                       {pdfOf("", append(page("/AcroForm<</XFA 4 0 R/Fields[]>>", ""), stream("", nil))...), refusedActive},
		"encrypted":                 {pdfOf("/Encrypt<</Filter/Standard/V 1/R 2/O(x)/U(x)/P -1>>", page("", "")...), refusedEncrypted},
		"stream in a file":          {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/F(data.bin)", nil))...), refusedActive},
		"stream in a file, hex":     {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/F<64617461>", nil))...), refusedActive},
		"stream behind a URL":       {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/F<</FS/URL/F(http://example.org)>>", nil))...), refusedActive},
		"stream behind a reference": {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/#46 5 0 R", nil), "<</Type/Filespec/F(data.bin)>>")...), refusedActive},
		"file system by reference":  {pdfOf("", append(page("", "/X<</F#53 4 0 R/F(http://example.org)>>"), "/URL")...), refusedActive},
		"lost stream in a file":     {append([]byte("%PDF-1.7\n9 0 obj"+stream("/F(data.bin)", nil)+"endobj\n"), pdfOf("", page("", "")...)...), refusedActive},
		"lost stream, by reference": {append([]byte("%PDF-1.7\n9 0 obj"+stream("/F 8 0 R", nil)+"endobj\n"), pdfOf("", page("", "")...)...), refusedActive},
		"stream in no file":         {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/F null", nil))...), ""},
		"flags named F":             {annotated("/Subtype/Link/F 4/A<</S/URI/URI(http://example.org)>>"), ""},
		"file of a link":            {annotated("/Subtype/Link/X<</F(data.bin)>>"), ""},
		"value named F":             {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/X/F/Y(data.bin)", nil))...), ""},
		"archive behind":            {append(pdfOf("", page("", "")...), zipOf(t)...), refusedArchive},
		"not at the start":          {append([]byte(" "), pdfOf("", page("", "")...)...), refusedUnknown},
		"much behind":               {append(pdfOf("", page("", "")...), make([]byte, 2*maxTail)...), refusedMalformed},
		"no pages":                  {tree("<</Type/Pages/Count 1/Kids[]>>"), refusedNoPages},
		"200 pages":                 {leaves(200, 200), ""},
		"201 pages":                 {leaves(201, 201), refusedPages},
		"201 pages, one declared":   {leaves(201, 1), refusedPages},
		"one page, 2^31 declared":   {leaves(1, 1<<31-1), refusedPages},
		"page tree in a circle":     {tree("<</Type/Pages/Count 1/Kids[2 0 R 2 0 R]>>"), refusedNoPages},
		"box of 10^9 points":        {tree("<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1000000000 1000000000]>>"), refusedBox},
		"box by its unit":           {tree("<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/UserUnit 1000000/MediaBox[0 0 9 9]>>"), refusedBox},
		"box inherited":             {tree("<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 1e9 1]/CropBox[-2000000000 0 0 1]>>", "<</Type/Page/Parent 2 0 R>>"), refusedBox},
		"reference in a circle":     {tree("<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>", "5 0 R", "4 0 R"), "?"},
		"deep arrays":               {tree("<</Type/Pages/Count 1/Kids[3 0 R]>>", plainPage, strings.Repeat("[", 100_000)), refusedNesting},
		"deep dictionaries":         {tree("<</Type/Pages/Count 1/Kids[3 0 R]>>", plainPage, strings.Repeat("<</A", 100_000)), refusedNesting},
		"stream of 64 MiB":          {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/Filter/FlateDecode", bomb(t, 1, 0)))...), refusedExpansion},
		"stream in a stream":        {pdfOf("", append(page("", "/Contents 4 0 R"), stream("/Filter[/FlateDecode/FlateDecode]", bomb(t, 2, 0)))...), refusedExpansion},
		"objects of 64 MiB":         {pdfOf("", append(page("", ""), stream("/Type/ObjStm/N 1/First 4/Filter/FlateDecode", bomb(t, 1, ' ')))...), refusedExpansion},
		"objects upon objects":      {append([]byte("%PDF-1.7\n"+strings.Repeat("1 0 obj(", 200_000)), pdfOf("", page("", "")...)...), refusedMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if row.want != "" && row.want != "?" && row.want != refusedExpansion {
				_, err := inspection{}.file(row.file, request{Purpose: Portfolio}) // refused before anything is rendered
				require.Equal(t, row.want, err)
				return
			}
			report := inspected(t, row.file, Portfolio)
			if row.want == "?" {
				require.Equal(t, report.Accepted, report.Reason == "")
				return
			}
			require.Equal(t, string(row.want), report.Reason)
			require.Equal(t, row.want == "", report.Accepted)
		})
	}
}

// TestActiveTables: each row of the tables is refused both by the scan over the bytes and by the walk over the objects.
func TestActiveTables(t *testing.T) {
	t.Parallel()
	rows := map[string]string{}
	for _, action := range activeActions {
		rows[action] = "<</S/" + action + ">>"
	}
	for _, annotation := range activeAnnotations {
		rows["annotation "+annotation] = "<</Subtype/" + annotation + ">>"
	}
	for _, key := range activeKeys {
		rows["entry "+key] = "<</" + key + "[]>>"
	}
	rows["URL"] = "<</FS/URL/F(http://example.org)>>"
	rows["external stream"] = stream("/F(data.bin)", nil)
	for _, key := range fileKeys {
		rows["file "+key] = "<</EF<</" + key + " 1 0 R>>>>"
	}
	for name, object := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := pdfOf("", append(page("", ""), object)...)
			require.Equal(t, refusedActive, scanPDF(file))
			d, err := openPDF(file)
			require.NoError(t, err)
			require.Equal(t, refusedActive, d.check())
		})
	}
}
