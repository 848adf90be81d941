package inspection

import (
	"bytes"
	"image"
	"image/color"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// TestOrientation: previews and published images stand upright, and the size is the one displayed.
func TestOrientation(t *testing.T) {
	t.Parallel()
	stored := fourCorners()
	for orientation := range turnedCorners {
		t.Run(strconv.Itoa(int(orientation)), func(t *testing.T) {
			t.Parallel()
			requireTurned(t, orientation, jpegOf(t, stored, exif(orientation)))
		})
	}
}

// TestSizes: the longest side of a preview is at most 1024, of a published image 4096, proportions kept, never enlarged.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ stored, preview, published image.Point }{
		{image.Pt(10, 5), image.Pt(10, 5), image.Pt(10, 5)},
		{image.Pt(2048, 100), image.Pt(1024, 50), image.Pt(2048, 100)},
		{image.Pt(80, 8192), image.Pt(10, 1024), image.Pt(40, 4096)},
		{image.Pt(20000, 1), image.Pt(1024, 1), image.Pt(4096, 1)},
	} {
		t.Run(row.stored.String(), func(t *testing.T) {
			t.Parallel()
			report := accepted(t, inspectedAndPublished(t, pngOf(t, plain(row.stored.X, row.stored.Y, green)), Portfolio))
			require.Equal(t, row.stored, image.Pt(report.Width, report.Height))
			require.Equal(t, row.preview, shown(t, report.Preview).Bounds().Size())
			require.Equal(t, row.published, shown(t, report.Published).Bounds().Size())
		})
	}
}

// TestPage: a PDF's preview is its first page on white, and its published version holds no information about its maker.
func TestPage(t *testing.T) {
	t.Parallel()
	xmp := stream("/Type/Metadata/Subtype/XML", []byte("<x:xmpmeta>secret-xmp</x:xmpmeta>"))
	content := stream("", []byte("1 0 0 rg 0 0 100 100 re f"))
	report := inspectedAndPublished(t, pdfOf("/Info 6 0 R", append(page("/Metadata 4 0 R", "/Contents 5 0 R/PieceInfo<</X<</Private(secret-piece)>>>>"),
		xmp, content, "<</Author(secret-author)/Title(secret-title)>>")...), Portfolio)
	require.True(t, report.Accepted, report.Reason)
	require.Equal(t, 1, report.Pages)
	require.Zero(t, report.Width)
	require.Zero(t, report.Height)
	m := shown(t, report.Preview)
	size := m.Bounds().Size()
	require.LessOrEqual(t, max(size.X, size.Y), previewSide)
	require.Equal(t, size.X, 2*size.Y)
	near(t, red, m, size.X/4, size.Y/2)
	near(t, white, m, size.X*3/4, size.Y/2)

	d := graphtest.Got(openPDF(report.Published))(t)
	require.Nil(t, d.ctx.Info)
	for _, number := range d.numbers {
		require.NotContains(t, d.ctx.Table[number].Object.String(), "secret")
	}
}

// TestPages: a request for a page draws it, and nothing else is made; a page that is not there is refused.
func TestPages(t *testing.T) {
	t.Parallel()
	document := pdfOf("", "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 5 0 R>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 400]/Contents 6 0 R>>",
		stream("", []byte("1 0 0 rg 0 0 200 100 re f")), stream("", []byte("0 0 1 rg 0 0 100 400 re f")))
	drawn := func(page int) Report {
		report, _, err := new(Inspector).run(t.Context(), Request{Original: file(t, document), Purpose: Order, Page: page})
		require.NoError(t, err)
		return report
	}
	for page, want := range map[int]struct {
		colour color.RGBA
		size   image.Point
	}{0: {red, image.Pt(800, 400)}, 1: {red, image.Pt(800, 400)}, 2: {blue, image.Pt(256, 1024)}} {
		report := drawn(page)
		require.True(t, report.Accepted, report.Reason)
		require.Equal(t, 2, report.Pages)
		require.Empty(t, report.Published)
		m := shown(t, report.Preview)
		require.Equal(t, want.size, m.Bounds().Size())
		near(t, want.colour, m, 100, 100)
	}
	beyond := drawn(3)
	require.False(t, beyond.Accepted)
	require.Equal(t, refusedUndecodable.Error(), beyond.Reason)
}

// TestPublishedVersions: a published version is made for every purpose except orders, unless the preview of a JPEG serves as one.
func TestPublishedVersions(t *testing.T) {
	t.Parallel()
	for purpose := range purposes {
		for content, published := range map[string]bool{
			string(pngOf(t, plain(8, 8, red))): purpose != Order, string(jpegOf(t, plain(8, 8, red))): purpose == Publication,
			string(jpegOf(t, plain(previewSide+8, 8, red))): purpose != Order,
		} {
			report := accepted(t, inspected(t, []byte(content), purpose))
			require.Equal(t, published, len(report.Published) > 0, purpose)
			require.Equal(t, purpose != Publication, len(report.Preview) > 0, purpose)
		}
	}
}

// waves is a picture of smooth shades with as much detail as a photograph.
func waves(width, height int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			at := m.PixOffset(x, y)
			m.Pix[at], m.Pix[at+1], m.Pix[at+2], m.Pix[at+3] = byte(x*y>>8), byte(x>>2+y), byte(x*x>>10), 255
		}
	}
	return m
}

// TestShrunkenDecoding: missing data are detected at any fraction of its size at which a JPEG is decoded, although its structure
// is whole.
func TestShrunkenDecoding(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1000, 1500, 3100, 6200, 12400} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			whole := jpegOf(t, waves(width, 100))
			report := accepted(t, inspected(t, whole, Order))
			if width > previewSide {
				require.Equal(t, image.Pt(previewSide, (previewSide*100+width/2)/width), shown(t, report.Preview).Bounds().Size())
			}
			scan := bytes.Index(whole, []byte{0xFF, markerScan}) + 14
			for i, left := range []int{(scan + len(whole)) / 2, scan + 10, len(whole) - 40} {
				if i > 0 && testing.Short() {
					break
				}
				cut := append(bytes.TrimRight(bytes.Clone(whole[:left]), "\xFF"), 0xFF, markerEnd)
				require.Equal(t, string(refusedUndecodable), inspected(t, cut, Order).Reason, "%d of %d", left, len(whole))
			}
		})
	}
}
