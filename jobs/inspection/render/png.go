package render

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"

	"github.com/h2non/bimg"

	"stoa/jobs/inspection"
)

// PNG implements inspection.Renderer: a PNG as a PNG, upright, in sRGB, with the transparency and depth that it has. Colours
// change only if it has a profile or a gamma, or is made smaller.
func (Renderer) PNG(s inspection.Source, longest, room int) (inspection.Rendered, error) {
	p, err := look(s, longest)
	if err != nil {
		return inspection.Rendered{}, err
	}
	o := bimg.Options{Type: bimg.PNG, Compression: compression}
	turn(&o, p.meta.Orientation)
	size := p.meta.Size
	if p.found.Swapped {
		size.Width, size.Height = size.Height, size.Width
	}
	var made []byte
	for ; made == nil || len(made) > room; longest /= 2 {
		fit(&o, size, longest)
		if made, err = p.convert(o, true); err != nil {
			return inspection.Rendered{}, err
		}
	}
	p.found.File = essential(made)
	if few := indexed(p.found.File); few != nil && len(few) < len(p.found.File) {
		p.found.File = few
	}
	return p.found, nil
}

// compression is zlib's level.
const compression = 6

// essential leaves out the chunks of libvips' PNG that do not concern its pixels, such as the resolution of the original.
func essential(file []byte) []byte {
	const magic, head, tail = 8, 8, 4
	kept := file[:magic:magic]
	for rest := file[magic:]; len(rest) >= head+tail; {
		end := head + int(binary.BigEndian.Uint32(rest)) + tail
		switch kind := string(rest[4:head]); kind {
		case "IHDR", "PLTE", "tRNS", "IDAT", "IEND":
			kept = append(kept, rest[:end]...)
		}
		rest = rest[end:]
	}
	return kept
}

// maxPalette is how many colours a palette of a PNG holds.
const maxPalette = 256

// indexed encodes a PNG of at most 256 colours, transparency included, with a palette of exactly these; nil for other PNGs.
func indexed(file []byte) []byte {
	const depthAt, deep = 24, 16
	if len(file) <= depthAt || file[depthAt] == deep {
		return nil
	}
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil
	}
	if g, ok := m.(*image.Gray); ok {
		return reindexed(g.Pix, g.Bounds(), 1, func(p []byte) color.Color { return color.NRGBA{p[0], p[0], p[0], 255} })
	}
	pixel := func(p []byte) color.Color { return color.NRGBA{p[0], p[1], p[2], p[3]} }
	switch m := m.(type) {
	case *image.RGBA: // opaque
		return reindexed(m.Pix, m.Bounds(), 4, pixel)
	case *image.NRGBA:
		return reindexed(m.Pix, m.Bounds(), 4, pixel)
	}
	return nil
}

// reindexed encodes rows of samples with a palette; nil if they have too many colours.
func reindexed(samples []byte, bounds image.Rectangle, width int, pixel func([]byte) color.Color) []byte {
	known := make(map[[4]byte]uint8, maxPalette)
	out := image.NewPaletted(bounds, nil)
	for i := range out.Pix {
		var key [4]byte
		copy(key[:], samples[i*width:(i+1)*width])
		index, ok := known[key]
		if !ok {
			if len(known) == maxPalette {
				return nil
			}
			index = uint8(len(known))
			known[key] = index
			out.Palette = append(out.Palette, pixel(key[:]))
		}
		out.Pix[i] = index
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out); err != nil {
		return nil
	}
	return b.Bytes()
}
