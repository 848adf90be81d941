package inspection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// An image of 20 million pixels is scanned, one of a pixel more is refused for its size alone (§8).
func TestBoundOfPixels(t *testing.T) {
	t.Parallel()
	whole := jpegOf(t, plain(16, 8, red))
	for _, c := range []struct {
		width, height uint32
		refused       bool
	}{
		{5000, 4000, false}, {4000, 5000, false}, {50_000, 400, false}, {4001, 5000, true}, {50_000, 401, true}, {65_535, 306, true},
	} {
		_, err := scanPNG(pngFrom(header(c.width, c.height, 2), chunk("IDAT", deflate(make([]byte, 26))...), chunk("IEND")))
		require.Equal(t, c.refused, errors.Is(err, refusedPixels), "PNG of %d by %d: %v", c.width, c.height, err)

		frame := append(binary.BigEndian.AppendUint16([]byte("\xFF\xC0\x00\x11\x08"), uint16(c.height)), byte(c.width>>8), byte(c.width))
		_, err = scanJPEG(bytes.Replace(whole, []byte("\xFF\xC0\x00\x11\x08\x00\x08\x00\x10"), frame, 1))
		require.Equal(t, c.refused, errors.Is(err, refusedPixels), "JPEG of %d by %d: %v", c.width, c.height, err)
	}
	_, err := scanPNG(pngFrom(header(20_000_001, 1, 2), chunk("IDAT", deflate(make([]byte, 26))...), chunk("IEND")))
	require.Equal(t, refusedPixels, err)
}
