package inspection

import (
	"bytes"
	"image"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func sizeOf(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
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

// TestShrunkenDecoding: at whatever fraction of its size a JPEG is decoded, data that are missing are seen, although its
// structure is whole.
func TestShrunkenDecoding(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1000, 1500, 3100, 6200, 12400} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			whole := jpegOf(t, waves(width, 100))
			report := inspected(t, whole, Order)
			require.True(t, report.Accepted, report.Reason)
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
