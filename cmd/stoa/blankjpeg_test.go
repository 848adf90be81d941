package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"
)

// blankJPEG returns a grey JPEG of any size without the time that encoding takes: all blocks of a grey image have the same code.
func blankJPEG(width, height int) []byte {
	var small bytes.Buffer
	if err := jpeg.Encode(&small, greyImage(16, 16), nil); err != nil {
		panic(err)
	}
	encoded := small.Bytes()
	frame := bytes.Index(encoded, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(encoded[frame+5:], uint16(height))
	binary.BigEndian.PutUint16(encoded[frame+7:], uint16(width))
	scan := bytes.Index(encoded, []byte{0xff, 0xda})
	scan += 2 + int(binary.BigEndian.Uint16(encoded[scan+2:]))
	// 16 by 16 pixels are four blocks of luminance and two of chrominance: difference 0 and end of block, six times, are 32 bits.
	blocks := ((width + 15) / 16) * ((height + 15) / 16)
	return append(append(encoded[:scan:scan], bytes.Repeat([]byte{0x28, 0xa2, 0x8a, 0x00}, blocks)...), 0xff, 0xd9)
}

func greyImage(width, height int) image.Image {
	grey := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for _, plane := range [][]byte{grey.Y, grey.Cb, grey.Cr} {
		for i := range plane {
			plane[i] = 128
		}
	}
	return grey
}

func TestBlankJPEG(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{8, 8}, {16, 16}, {100, 75}} {
		want := new(bytes.Buffer)
		require.NoError(t, jpeg.Encode(want, greyImage(size.X, size.Y), nil))
		require.Equal(t, want.Bytes(), blankJPEG(size.X, size.Y))
	}
}
