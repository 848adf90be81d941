package inspection

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// ICC profiles that exchange red and blue (testdata/README.md): a decoder that ignores them shows red instead of blue.
var (
	//go:embed testdata/icc/matrix.icc
	matrixProfile []byte
	//go:embed testdata/icc/tables.icc
	tablesProfile []byte
)

// withProfile is the segment of a JPEG that holds a profile.
func withProfile(profile []byte) []byte {
	return appSegment(0xE2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile...))
}

// withChunks puts chunks behind the header of a PNG.
func withChunks(t *testing.T, m image.Image, chunks ...[]byte) []byte {
	whole := pngOf(t, m)
	const header = 8 + 25
	return append(append(append([]byte{}, whole[:header]...), bytes.Join(chunks, nil)...), whole[header:]...)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// TestColours: preview and copy are sRGB, whatever the colour space of the original: by its profile, whichever table that has,
// or else by the gamma and primaries of a PNG that is not marked as sRGB. A preview, and a copy of a JPEG, is on white.
func TestColours(t *testing.T) {
	t.Parallel()
	level := func(v uint8) color.RGBA { return color.RGBA{v, v, v, 255} }
	grey, deep, deepRed := image.NewGray16(image.Rect(0, 0, 16, 16)), image.NewNRGBA64(image.Rect(0, 0, 16, 16)), image.NewNRGBA64(image.Rect(0, 0, 16, 16))
	for i := range 16 * 16 {
		grey.Set(i%16, i/16, color.Gray16{0x8080})
		deep.Set(i%16, i/16, color.NRGBA64{0x8080, 0x8080, 0x8080, 0xFFFF})
		deepRed.Set(i%16, i/16, color.NRGBA64{R: 0xFFFF, A: 0xFFFF})
	}
	half, veiled, reds := plain(16, 16, level(128)), plain(16, 16, color.NRGBA{128, 128, 128, 128}), plain(16, 16, red)
	shades := image.NewGray(half.Bounds())
	for i := range shades.Pix {
		shades.Pix[i] = 128
	}
	profile := func(data []byte) []byte { return chunk("iCCP", append([]byte("x\x00\x00"), deflate(data)...)...) }
	linear, usual, srgb := chunk("gAMA", words(100_000)...), chunk("gAMA", words(45_455)...), chunk("sRGB", 0)
	exchanged := chunk("cHRM", words(31_270, 32_900, 15_000, 6_000, 30_000, 60_000, 64_000, 33_000)...)
	inLine := chunk("cHRM", words(31_270, 32_900, 20_000, 20_000, 30_000, 30_000, 40_000, 40_000)...)
	found := graphtest.Got(filepath.Glob(filepath.Join("testdata", "corpus", "img", "425ec0fb36*")))(t)
	require.Len(t, found, 1)
	tables := func(tag string) []byte {
		return jpegOf(t, reds, withProfile(bytes.ReplaceAll(tablesProfile, []byte("A2B0"), []byte(tag))))
	}
	for name, row := range map[string]struct {
		file []byte
		want color.RGBA
	}{
		"CMYK is displayed":          {graphtest.Got(os.ReadFile(found[0]))(t), color.RGBA{}},
		"profile":                    {jpegOf(t, reds, withProfile(matrixProfile)), blue},
		"profile, perceptual":        {tables("A2B0"), blue},
		"profile, colorimetric":      {tables("A2B1"), blue},
		"profile, saturation":        {tables("A2B2"), blue},
		"broken profile":             {jpegOf(t, reds, withProfile([]byte("garbage"))), red},
		"16 bits":                    {pngOf(t, deepRed), red},
		"16 bits grey":               {pngOf(t, grey), level(128)},
		"transparent":                {pngOf(t, plain(16, 16, color.NRGBA{R: 255, A: 0})), white},
		"half transparent":           {pngOf(t, plain(16, 16, color.NRGBA{R: 255, A: 128})), color.RGBA{255, 127, 127, 255}},
		"linear":                     {withChunks(t, half, linear), level(188)},
		"linear, grey":               {withChunks(t, shades, linear), level(188)},
		"linear, 16 bits":            {withChunks(t, deep, linear), level(188)},
		"linear, half transparent":   {withChunks(t, veiled, linear), level(221)},
		"gamma of 1/1.8":             {withChunks(t, half, chunk("gAMA", words(55_556)...)), level(147)},
		"sRGB's gamma":               {withChunks(t, half, usual), level(128)},
		"no gamma":                   {withChunks(t, half), level(128)},
		"gamma 0":                    {withChunks(t, half, chunk("gAMA", words(0)...)), level(128)},
		"sRGB wins":                  {withChunks(t, half, linear, srgb), level(128)},
		"a profile wins":             {withChunks(t, reds, profile(tablesProfile), linear), blue},
		"a broken profile, linear":   {withChunks(t, half, profile([]byte("no profile")), linear), level(128)},
		"primaries":                  {withChunks(t, reds, usual, exchanged), blue},
		"primaries without gamma":    {withChunks(t, reds, exchanged), red},
		"primaries, sRGB wins":       {withChunks(t, reds, usual, exchanged, srgb), red},
		"primaries in a line":        {withChunks(t, half, linear, inLine), level(188)},
		"primaries of an odd length": {withChunks(t, half, linear, chunk("cHRM", 1, 2, 3)), level(188)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := accepted(t, inspectedAndPublished(t, row.file, Avatar))
			for _, made := range [][]byte{report.Preview, report.Published} {
				m := shown(t, made)
				_, isColour := m.(*image.YCbCr)
				require.Equal(t, &made[0] == &report.Preview[0] || report.MediaType == JPEG, isColour, "%T", m)
				if got := onWhite(m, 8, 8); row.want.A > 0 {
					require.InDelta(t, row.want.R, got.R, 6, "%v", got)
					require.InDelta(t, row.want.G, got.G, 6, "%v", got)
					require.InDelta(t, row.want.B, got.B, 6, "%v", got)
				}
			}
		})
	}
}

// checkers is a checkerboard: squares of the given size, each with another colour than its neighbours.
func checkers(side, pixel int, colours ...color.Color) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			m.Set(x, y, colours[(x/pixel+y/pixel)%len(colours)])
		}
	}
	return m
}

// TestGraphics: previews of pixel art keep the colour of every pixel, whether it is small, has few colours or large flat areas;
// previews of photographs give up three quarters of their colour samples, and none exceeds its maximum size.
func TestGraphics(t *testing.T) {
	t.Parallel()
	vivid := []color.Color{red, blue, green, color.RGBA{255, 0, 255, 255}, color.RGBA{0, 255, 255, 255}}
	gradient := image.NewNRGBA(image.Rect(0, 0, 600, 600))
	noise := image.NewNRGBA(image.Rect(0, 0, 1024, 1024))
	for y := range 600 {
		for x := range 600 {
			gradient.Set(x, y, color.RGBA{uint8(x * 255 / 599), uint8(y * 255 / 599), uint8((x*7 + y*3) % 251), 255})
		}
	}
	seed := uint32(1)
	for i := range noise.Pix {
		seed = seed*1664525 + 1013904223
		noise.Pix[i] = uint8(seed>>24) | map[bool]uint8{true: 255}[i%4 == 3]
	}
	for name, row := range map[string]struct {
		m     image.Image
		full  bool
		pixel int
	}{
		"small":              {checkers(16, 1, vivid...), true, 1},
		"one pixel":          {checkers(1, 1, vivid...), true, 0},
		"few colours":        {checkers(700, 1, vivid...), true, 1},
		"flat areas":         {checkers(1000, 20, vivid...), true, 20},
		"flat, made smaller": {checkers(2048, 64, vivid...), true, 0},
		"photograph":         {gradient, false, 0},
		"noise":              {noise, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := accepted(t, inspectedAndPublished(t, pngOf(t, row.m), Portfolio))
			for _, made := range [][]byte{report.Preview, report.Published} {
				m := shown(t, made)
				if &made[0] == &report.Preview[0] {
					coded := m.(*image.YCbCr)
					require.Equal(t, row.full, coded.SubsampleRatio == image.YCbCrSubsampleRatio444, "%s", coded.SubsampleRatio)
				}
				if row.pixel == 0 {
					continue
				}
				for i := range 12 {
					x, y := row.pixel/2+i*row.pixel, row.pixel/2+i/3*row.pixel
					near(t, color.RGBAModel.Convert(row.m.At(x, y)).(color.RGBA), m, x, y)
				}
			}
			size := shown(t, report.Preview).Bounds().Size()
			require.LessOrEqual(t, len(report.Preview), previewRoom(size.X, size.Y))
		})
	}
}

// exif is an APP1 segment with an orientation, and a GPS position whose reference is north.
func exif(orientation uint16) []byte {
	order := binary.LittleEndian
	entry := func(b []byte, tag, kind uint16, count, value uint32) []byte {
		b = order.AppendUint16(order.AppendUint16(b, tag), kind)
		return order.AppendUint32(order.AppendUint32(b, count), value)
	}
	tiff := append([]byte("II*\x00"), 8, 0, 0, 0)
	tiff = order.AppendUint16(tiff, 2)
	tiff = entry(tiff, 0x0112, 3, 1, uint32(orientation))
	tiff = entry(tiff, 0x8825, 4, 1, 38)
	tiff = order.AppendUint32(tiff, 0)
	tiff = order.AppendUint16(tiff, 1)
	tiff = entry(tiff, 0x0001, 2, 2, 'N')
	tiff = order.AppendUint32(tiff, 0)
	return appSegment(0xE1, append([]byte("Exif\x00\x00"), tiff...))
}

func appSegment(marker byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xFF, marker}, uint16(len(body)+2)), body...)
}
