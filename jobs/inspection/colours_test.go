package inspection

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// profileOf is an ICC profile, version 2, of RGB pixels.
func profileOf(names []string, tags map[string][]byte) []byte {
	profile := make([]byte, 128)
	copy(profile[8:], []byte{2, 0x10, 0, 0})
	copy(profile[12:], "mntrRGB XYZ ")
	copy(profile[24:], []byte{7, 0xD0, 0, 1, 0, 1})
	copy(profile[36:], "acsp")
	copy(profile[68:], []byte{0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D})
	profile = binary.BigEndian.AppendUint32(profile, uint32(len(names)))
	var data []byte
	for _, name := range names {
		profile = append(profile, name...)
		profile = binary.BigEndian.AppendUint32(profile, uint32(128+4+12*len(names)+len(data)))
		profile = binary.BigEndian.AppendUint32(profile, uint32(len(tags[name])))
		data = append(data, tags[name]...)
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
	}
	profile = append(profile, data...)
	binary.BigEndian.PutUint32(profile, uint32(len(profile)))
	return profile
}

// tabled is an ICC profile with only one table from RGB to XYZ, of the rendering intent of a tag, in which red and blue are
// exchanged.
func tabled(tag string) []byte {
	word := func(b []byte, v float64) []byte { return binary.BigEndian.AppendUint16(b, uint16(math.Round(v))) }
	table := append([]byte("mft2\x00\x00\x00\x00"), 3, 3, 2, 0)
	for i := range 9 {
		one := uint32(0)
		if i%4 == 0 {
			one = 1 << 16
		}
		table = binary.BigEndian.AppendUint32(table, one)
	}
	table = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(table, 256), 2)
	for range 3 {
		for i := range 256 {
			table = word(table, 65535*math.Pow(float64(i)/255, 2.2))
		}
	}
	primaries := [3][3]float64{{0.1431, 0.0606, 0.7141}, {0.3851, 0.7169, 0.0971}, {0.4361, 0.2225, 0.0139}}
	for corner := range 8 {
		for axis := range 3 {
			sum := 0.0
			for channel := range 3 {
				if corner>>(2-channel)&1 == 1 {
					sum += primaries[channel][axis]
				}
			}
			table = word(table, 32768*sum)
		}
	}
	for range 3 {
		table = word(word(table, 0), 65535)
	}
	description := append([]byte("desc\x00\x00\x00\x00\x00\x00\x00\x02x\x00"), make([]byte, 4+4+2+1+67+1)...)
	return profileOf([]string{"desc", "cprt", "wtpt", tag}, map[string][]byte{
		"desc": description, "cprt": []byte("text\x00\x00\x00\x00x\x00"), tag: table,
		"wtpt": []byte("XYZ \x00\x00\x00\x00\x00\x00\xF6\xD6\x00\x01\x00\x00\x00\x00\xD3\x2D"),
	})
}

// TestTabledProfiles: a profile is used whichever table it has, even if that is only the perceptual one.
func TestTabledProfiles(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"A2B0", "A2B1", "A2B2"} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			segment := appSegment(0xE2, append([]byte("ICC_PROFILE\x00\x01\x01"), tabled(tag)...))
			report := accepted(t, inspectedAndPublished(t, jpegOf(t, plain(1100, 40, red), segment), Portfolio))
			for _, made := range [][]byte{report.Preview, report.Published} {
				near(t, blue, shown(t, made), 8, 8)
			}
		})
	}
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

// TestGamma: the gamma and primaries of a PNG are used if it has no profile and is not marked as sRGB.
func TestGamma(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(tabled("A2B0"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	profile := chunk("iCCP", append([]byte("x\x00\x00"), packed.Bytes()...)...)
	linear, usual := chunk("gAMA", words(100_000)...), chunk("gAMA", words(45_455)...)
	srgb := chunk("sRGB", 0)
	swapped := chunk("cHRM", words(31_270, 32_900, 15_000, 6_000, 30_000, 60_000, 64_000, 33_000)...)
	level := func(v uint8) color.RGBA { return color.RGBA{v, v, v, 255} }
	grey := image.NewGray(image.Rect(0, 0, 16, 16))
	deep := image.NewNRGBA64(image.Rect(0, 0, 16, 16))
	for i := range grey.Pix {
		grey.Pix[i] = 128
	}
	for y := range 16 {
		for x := range 16 {
			deep.Set(x, y, color.NRGBA64{0x8080, 0x8080, 0x8080, 0xFFFF})
		}
	}
	half, veiled := plain(16, 16, level(128)), plain(16, 16, color.NRGBA{128, 128, 128, 128})
	for name, row := range map[string]struct {
		m      image.Image
		chunks [][]byte
		want   color.RGBA
	}{
		"linear":                     {half, [][]byte{linear}, level(188)},
		"linear, grey":               {grey, [][]byte{linear}, level(188)},
		"linear, 16 bits":            {deep, [][]byte{linear}, level(188)},
		"linear, half transparent":   {veiled, [][]byte{linear}, level(221)},
		"gamma of 1/1.8":             {half, [][]byte{chunk("gAMA", words(55_556)...)}, level(147)},
		"sRGB's gamma":               {half, [][]byte{usual}, level(128)},
		"no gamma":                   {half, nil, level(128)},
		"gamma 0":                    {half, [][]byte{chunk("gAMA", words(0)...)}, level(128)},
		"sRGB wins":                  {half, [][]byte{linear, srgb}, level(128)},
		"a profile wins":             {plain(16, 16, red), [][]byte{profile, linear}, blue},
		"a broken profile":           {half, [][]byte{chunk("iCCP", append([]byte("x\x00\x00"), deflate([]byte("no profile"))...)...), linear}, level(128)},
		"primaries":                  {plain(16, 16, red), [][]byte{usual, swapped}, blue},
		"primaries without gamma":    {plain(16, 16, red), [][]byte{swapped}, red},
		"primaries, sRGB wins":       {plain(16, 16, red), [][]byte{usual, swapped, srgb}, red},
		"primaries in a line":        {half, [][]byte{linear, chunk("cHRM", words(31_270, 32_900, 20_000, 20_000, 30_000, 30_000, 40_000, 40_000)...)}, level(188)},
		"primaries of an odd length": {half, [][]byte{linear, chunk("cHRM", 1, 2, 3)}, level(188)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := accepted(t, inspectedAndPublished(t, withChunks(t, row.m, row.chunks...), Portfolio))
			for _, made := range [][]byte{report.Preview, report.Published} {
				got := onWhite(shown(t, made), 8, 8)
				require.InDelta(t, row.want.R, got.R, 6, "%v", got)
				require.InDelta(t, row.want.G, got.G, 6, "%v", got)
				require.InDelta(t, row.want.B, got.B, 6, "%v", got)
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

// swapped is an ICC profile (a minimal matrix profile, version 2) that is sRGB with red and blue exchanged, in APP2: a decoder
// that ignores it shows red instead of blue.
func swapped() []byte {
	fixed := func(f float64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(f*65536))) }
	xyz := func(x, y, z float64) []byte {
		b := append([]byte("XYZ "), 0, 0, 0, 0)
		return append(append(append(b, fixed(x)...), fixed(y)...), fixed(z)...)
	}
	gamma := append([]byte("curv"), 0, 0, 0, 0, 0, 0, 0, 1, 2, 51, 0, 0) // u8Fixed8: 2.2
	text := append([]byte("text"), 0, 0, 0, 0, 'x', 0, 0, 0)
	description := append([]byte("desc"), 0, 0, 0, 0, 0, 0, 0, 2, 'x', 0)
	description = append(description, make([]byte, 4+4+2+1+67+1)...)
	names := []string{"desc", "cprt", "wtpt", "bXYZ", "gXYZ", "rXYZ", "rTRC", "gTRC", "bTRC"}
	profile := profileOf(names, map[string][]byte{
		"desc": description, "cprt": text, "wtpt": xyz(0.9642, 1, 0.8249), "bXYZ": xyz(0.4361, 0.2225, 0.0139),
		"gXYZ": xyz(0.3851, 0.7169, 0.0971), "rXYZ": xyz(0.1431, 0.0606, 0.7141), "rTRC": gamma, "gTRC": gamma, "bTRC": gamma,
	})
	return appSegment(0xE2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile...))
}
