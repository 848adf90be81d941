package inspection

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

var pngMagic = []byte("\x89PNG\r\n\x1a\n")

// A chunk is its length, its type, its data and a checksum over the latter two (PNG, third edition, 5.3).
const (
	chunkHead = 8
	chunkTail = 4
	// chunkAncillary is the bit of a type's first letter that lets a decoder skip a chunk it does not know.
	chunkAncillary = 0x20
)

// depths are the bits a sample may have, by colour type (PNG, table 12).
var depths = map[byte][]byte{
	0: {1, 2, 4, 8, 16},
	2: {8, 16},
	3: {1, 2, 4, 8},
	4: {8, 16},
	6: {8, 16},
}

const palette = 3

// pngWalk holds the properties of a PNG that are known after the chunks read so far.
type pngWalk struct {
	size    size
	kind    byte
	palette bool
	data    bool
	// after is set once the run of image data has ended.
	after bool
	ended bool
	// at is the offset of the current chunk, dataAt of the first image data. Of the Exif chunks in exif, the first counts.
	at, dataAt int
	exif       []span
	// images are the image data, a part for each chunk.
	images []io.Reader
	// profiled is set if a chunk describes the colours better than gAMA and cHRM do.
	profiled bool
	colours  Colours
}

// span is a part of a file.
type span struct{ from, to int }

// scanPNG walks a PNG's chunks, checksums included, to an end chunk that is the end of the file, and returns its size and
// colours. Any animation chunk makes it animated, however many frames it declares.
func scanPNG(file []byte) (imageInfo, error) {
	if !bytes.HasPrefix(file, pngMagic) {
		return imageInfo{}, refusedMalformed
	}
	var walk pngWalk
	for rest := file[len(pngMagic):]; !walk.ended || len(rest) > 0; {
		walk.at = len(file) - len(rest)
		if walk.ended {
			return imageInfo{}, refusedTrailing
		}
		if len(rest) < chunkHead+chunkTail {
			return imageInfo{}, refusedCut
		}
		length := binary.BigEndian.Uint32(rest)
		if uint64(length) > uint64(len(rest)-chunkHead-chunkTail) {
			return imageInfo{}, refusedCut
		}
		end := chunkHead + int(length)
		if crc32.ChecksumIEEE(rest[4:end]) != binary.BigEndian.Uint32(rest[end:]) {
			return imageInfo{}, refusedChecksum
		}
		if err := walk.take(string(rest[4:chunkHead]), rest[chunkHead:end]); err != nil {
			return imageInfo{}, err
		}
		rest = rest[end+chunkTail:]
	}
	if err := walk.checkSum(); err != nil {
		return imageInfo{}, err
	}
	return imageInfo{walk.size, walk.picture(file), walk.known()}, nil
}

// maxInflated bounds the image data of maxPixels pixels of four samples of two bytes, with a byte a line; seven passes have more
// lines.
const maxInflated = 8*maxPixels + 8*maxPixels

// checkSum refuses image data whose Adler-32 is wrong, since decoders do not read that far. Decoders find all other defects of
// the data.
func (w *pngWalk) checkSum() error {
	inflated, err := zlib.NewReader(io.MultiReader(w.images...))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if _, err = io.CopyN(io.Discard, inflated, maxInflated); errors.Is(err, zlib.ErrChecksum) {
		return refusedChecksum
	}
	return nil
}

// take records one chunk, in order.
func (w *pngWalk) take(kind string, data []byte) error {
	if (w.size == size{}) != (kind == "IHDR") {
		return refusedMalformed
	}
	switch kind {
	case "IHDR":
		return w.header(data)
	case "PLTE":
		if w.palette || w.data || len(data) == 0 || len(data)%3 != 0 || len(data) > 3*256 {
			return refusedMalformed
		}
		w.palette = true
	case "IDAT":
		if w.after || w.kind == palette && !w.palette {
			return refusedMalformed
		}
		if !w.data {
			w.data, w.dataAt = true, w.at
		}
		w.images = append(w.images, bytes.NewReader(data))
		return nil
	case "IEND":
		if !w.data || len(data) != 0 {
			return refusedMalformed
		}
		w.ended = true
	case "acTL", "fcTL", "fdAT":
		return refusedAnimated
	default:
		if kind[0]&chunkAncillary == 0 {
			return refusedMalformed
		}
		w.describe(kind, data)
		if kind == "eXIf" {
			w.exif = append(w.exif, span{w.at, w.at + chunkHead + len(data) + chunkTail})
		}
	}
	w.after = w.data
	return nil
}

// picture returns the file as it is rendered: with the Exif before the image data, where decoders look for it.
func (w *pngWalk) picture(file []byte) []byte {
	if len(w.exif) == 0 || w.exif[0].to <= w.dataAt {
		return file
	}
	exif := w.exif[0]
	return slices.Concat(file[:w.dataAt], file[exif.from:exif.to], file[w.dataAt:exif.from], file[exif.to:])
}

// header reads IHDR: dimensions, depth and colour. It accepts only the methods that the standard defines.
func (w *pngWalk) header(data []byte) error {
	if len(data) != 13 {
		return refusedMalformed
	}
	width, height := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	depth, colour, compression, filter, interlace := data[8], data[9], data[10], data[11], data[12]
	if width > 1<<31-1 || height > 1<<31-1 || !slices.Contains(depths[colour], depth) ||
		compression != 0 || filter != 0 || interlace > 1 {
		return refusedMalformed
	}
	w.size, w.kind = size{int(width), int(height)}, colour
	return w.size.check()
}

// Colours are the values of gAMA and cHRM, which describe a PNG's samples (PNG, third edition, 11.3.2).
type Colours struct {
	// Gamma is the exponent that turns a sample into light, usually 2.2; 0 if the file does not say.
	Gamma float64
	// Points are x and y of white, red, green and blue; zeros if the file does not say.
	Points [8]float64
}

const (
	// chunkUnit is the factor of the integers in gAMA and cHRM.
	chunkUnit = 100_000
	// sRGB's exponent, and how far another may be from it without a visible difference.
	srgbGamma      = 2.2
	gammaTolerance = 0.05
	// pointTolerance is how far a primary may be from sRGB's.
	pointTolerance = 0.002
	// No display has an exponent beyond these.
	minGamma, maxGamma = 0.2, 10
)

// SRGBPoints are the points of sRGB.
var SRGBPoints = [8]float64{0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06}

// describe records a chunk about colours. A profile (iCCP, cICP) and sRGB win over gAMA and cHRM.
func (w *pngWalk) describe(kind string, data []byte) {
	if w.data || w.palette {
		return // too late to count
	}
	switch {
	case kind == "iCCP" || kind == "sRGB" || kind == "cICP":
		w.profiled = true
	case kind == "gAMA" && len(data) == 4:
		if exponent := float64(chunkUnit) / float64(binary.BigEndian.Uint32(data)); exponent >= minGamma && exponent <= maxGamma {
			w.colours.Gamma = exponent
		}
	case kind == "cHRM" && len(data) == 4*len(w.colours.Points):
		for i := range w.colours.Points {
			w.colours.Points[i] = float64(binary.BigEndian.Uint32(data[4*i:])) / chunkUnit
		}
	}
}

// known returns the colours that count: nil if the file has a profile, does not describe its colours, or is sRGB.
func (w *pngWalk) known() *Colours {
	c := w.colours
	if w.profiled || c.Gamma == 0 {
		return nil
	}
	if !c.triangle() {
		c.Points = [8]float64{}
	}
	if c.srgb() {
		return nil
	}
	return &c
}

// srgb reports whether the samples are sRGB, within the tolerances.
func (c Colours) srgb() bool {
	if math.Abs(c.Gamma/srgbGamma-1) > gammaTolerance {
		return false
	}
	if c.Points == [8]float64{} {
		return true
	}
	for i, point := range c.Points {
		if math.Abs(point-SRGBPoints[i]) > pointTolerance {
			return false
		}
	}
	return true
}

// triangle reports whether a display can have these points: within the diagram, and the primaries not in a line.
func (c Colours) triangle() bool {
	for i := 0; i < len(c.Points); i += 2 {
		x, y := c.Points[i], c.Points[i+1]
		if x < 0 || y < 0.001 || x+y > 1.3 {
			return false
		}
	}
	p := c.Points
	area := (p[4]-p[2])*(p[7]-p[3]) - (p[6]-p[2])*(p[5]-p[3])
	return math.Abs(area) > 0.01 && p[0] > 0
}
