package inspection

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// colourful is a picture of 64 by 48 random pixels in a number of colours.
func colourful(colours int, alpha bool) *image.NRGBA {
	const width, height = 64, 48
	random := rand.New(rand.NewPCG(1, uint64(colours)))
	var palette []color.NRGBA
	for range colours {
		c := color.NRGBA{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32()), 255}
		if alpha {
			c.A = uint8(random.Uint32())
		}
		palette = append(palette, c)
	}
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for at := range width * height {
		m.SetNRGBA(at%width, at/width, palette[random.IntN(colours)])
	}
	return m
}

// indexed is the same picture with a palette.
func indexed(m *image.NRGBA) image.Image {
	out := image.NewPaletted(m.Bounds(), nil)
	known := map[color.NRGBA]uint8{}
	for i := range out.Pix {
		c := m.NRGBAAt(i%m.Rect.Dx(), i/m.Rect.Dx())
		if _, ok := known[c]; !ok {
			known[c] = uint8(len(known))
			out.Palette = append(out.Palette, c)
		}
		out.Pix[i] = known[c]
	}
	return out
}

// TestCopyOfPNG: the public copy of a PNG is a PNG with all its pixels, its transparency and its depth, and nothing else.
// A copy of few colours is no larger than the original.
func TestCopyOfPNG(t *testing.T) {
	t.Parallel()
	grey, deepGrey, deep := image.NewGray(image.Rect(0, 0, 64, 48)), image.NewGray16(image.Rect(0, 0, 64, 48)), image.NewNRGBA64(image.Rect(0, 0, 64, 48))
	for i := range 64 * 48 {
		x, y := i%64, i/64
		grey.SetGray(x, y, color.Gray{uint8(i * 7)})
		deepGrey.SetGray16(x, y, color.Gray16{uint16(i * 21)})
		deep.SetNRGBA64(x, y, color.NRGBA64{uint16(i * 21), uint16(i * 13), uint16(i), uint16(65535 - i*5)})
	}
	for name, m := range map[string]image.Image{
		"2 colours":                indexed(colourful(2, false)),
		"71 colours":               indexed(colourful(71, false)),
		"256 colours, transparent": indexed(colourful(256, true)),
		"71 colours, true":         colourful(71, false),
		"many colours":             colourful(5000, false),
		"many, transparent":        colourful(5000, true),
		"hidden colours":           plain(64, 48, color.NRGBA{R: 200, G: 10, B: 10, A: 0}),
		"grey":                     grey,
		"grey of 16 bits":          deepGrey,
		"16 bits, transparent":     deep,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			original := pngOf(t, m)
			file := append(bytes.Clone(original[:33]), chunk("tEXt", []byte("Author\x00secret")...)...)
			file = append(append(file, chunk("pHYs", 0, 0, 11, 19, 0, 0, 11, 19, 1)...), original[33:]...)
			report := accepted(t, inspected(t, file, Publication))
			require.Equal(t, PNG, report.MediaType)
			made := shown(t, report.Published)
			require.Equal(t, m.Bounds(), made.Bounds())
			for i := range 64 * 48 {
				x, y := i%64, i/64
				want := color.NRGBA64Model.Convert(m.At(x, y))
				require.Equal(t, want, color.NRGBA64Model.Convert(made.At(x, y)), "%d %d", x, y)
			}
			if p, ok := m.(*image.Paletted); ok {
				require.IsType(t, p, made)
				require.Len(t, made.(*image.Paletted).Palette, len(p.Palette))
				require.LessOrEqual(t, len(report.Published), len(original)+100)
			}
		})
	}
}

// TestSizeOfPNG: a copy is at most 4096 pixels long and keeps its transparency.
func TestSizeOfPNG(t *testing.T) {
	t.Parallel()
	m := plain(5000, 100, color.NRGBA{R: 255, A: 128})
	report := accepted(t, inspected(t, pngOf(t, m), Publication))
	made := shown(t, report.Published)
	require.Equal(t, image.Pt(4096, 82), made.Bounds().Size())
	got := color.NRGBAModel.Convert(made.At(2000, 40)).(color.NRGBA)
	require.InDelta(t, 255, got.R, 2)
	require.InDelta(t, 128, got.A, 2)
}

// TestExifOfPNG: a PNG stands upright by its Exif, wherever that stands: the first one counts.
func TestExifOfPNG(t *testing.T) {
	t.Parallel()
	whole := pngOf(t, fourCorners())
	const header, end = 33, 12
	tag := func(orientation uint16) []byte { return chunk("eXIf", exif(orientation)[10:]...) }
	before := func(b ...[]byte) []byte {
		return bytes.Join([][]byte{whole[:header], bytes.Join(b, nil), whole[header:]}, nil)
	}
	behind := func(b []byte, more ...[]byte) []byte {
		at := len(b) - end
		return bytes.Join([][]byte{b[:at], bytes.Join(more, nil), b[at:]}, nil)
	}
	for name, row := range map[string]struct {
		file []byte
		want uint16
	}{
		"before":                {before(tag(6)), 6},
		"behind":                {behind(whole, tag(6)), 6},
		"behind a text":         {behind(whole, chunk("tEXt", []byte("a\x00b")...), tag(8)), 8},
		"before and behind":     {behind(before(tag(3)), tag(6)), 3},
		"behind, mirrored":      {behind(whole, tag(2)), 2},
		"behind, none of ours":  {behind(whole, chunk("eXIf", 1, 2, 3)), 1},
		"behind, twice":         {behind(whole, tag(6), tag(3)), 6},
		"before, as it is":      {before(tag(1)), 1},
		"behind, out of bounds": {behind(whole, tag(9)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireTurned(t, row.want, row.file)
		})
	}
}

// turnedCorners are the colours of the quarters of a picture as displayed, by its orientation.
var turnedCorners = map[uint16][4]color.RGBA{
	1: {red, green, blue, white},
	2: {green, red, white, blue},
	3: {white, blue, green, red},
	4: {blue, white, red, green},
	5: {red, blue, green, white},
	6: {blue, red, white, green},
	7: {white, green, blue, red},
	8: {green, white, red, blue},
}

// fourCorners is a picture of 64 by 32 pixels with a colour in each quarter, as turnedCorners has them for orientation 1.
func fourCorners() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 64, 32))
	for y := range 32 {
		for x := range 64 {
			m.Set(x, y, turnedCorners[1][y/16*2+x/32])
		}
	}
	return m
}

// requireTurned requires that preview and published image of fourCorners in a file stand upright, and that the size is the one
// displayed.
func requireTurned(t *testing.T, orientation uint16, content []byte) {
	t.Helper()
	report := accepted(t, inspectedAndPublished(t, content, Avatar))
	width, height := 64, 32
	if orientation > 4 {
		width, height = 32, 64
	}
	require.Equal(t, [2]int{width, height}, [2]int{report.Width, report.Height})
	for _, made := range [][]byte{report.Preview, report.Published} {
		m := shown(t, made)
		require.Equal(t, image.Pt(width, height), m.Bounds().Size())
		for i, c := range turnedCorners[orientation] {
			near(t, c, m, width/4+i%2*width/2, height/4+i/2*height/2)
		}
	}
}
