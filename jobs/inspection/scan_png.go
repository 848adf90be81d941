package inspection

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
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

// pngWalk is what is known of a PNG between two chunks.
type pngWalk struct {
	size    size
	kind    byte
	palette bool
	data    bool
	// after is set once the run of image data has ended.
	after bool
	ended bool
	// profiled is set where a chunk says more of the colours than gAMA and cHRM do.
	profiled bool
	colours  colours
}

// scanPNG walks a PNG's chunks, checksums included, to an end chunk that is the end of the file, and returns its size
// and colours.
// Any animation chunk makes it animated, however many frames it declares.
func scanPNG(file []byte) (facts, error) {
	if !bytes.HasPrefix(file, pngMagic) {
		return facts{}, refusedMalformed
	}
	var walk pngWalk
	for rest := file[len(pngMagic):]; !walk.ended || len(rest) > 0; {
		if walk.ended {
			return facts{}, refusedTrailing
		}
		if len(rest) < chunkHead+chunkTail {
			return facts{}, refusedCut
		}
		length := binary.BigEndian.Uint32(rest)
		if uint64(length) > uint64(len(rest)-chunkHead-chunkTail) {
			return facts{}, refusedCut
		}
		end := chunkHead + int(length)
		if crc32.ChecksumIEEE(rest[4:end]) != binary.BigEndian.Uint32(rest[end:]) {
			return facts{}, refusedChecksum
		}
		if err := walk.take(string(rest[4:chunkHead]), rest[chunkHead:end]); err != nil {
			return facts{}, err
		}
		rest = rest[end+chunkTail:]
	}
	return facts{walk.size, walk.known()}, nil
}

// take notes one chunk, in order.
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
		w.data = true
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
	}
	w.after = w.data
	return nil
}

// header reads IHDR: dimensions, depth and colour, and the only methods there are.
func (w *pngWalk) header(data []byte) error {
	if len(data) != 13 {
		return refusedMalformed
	}
	width, height := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	depth, colour, compression, filter, interlace := data[8], data[9], data[10], data[11], data[12]
	if width > 1<<31-1 || height > 1<<31-1 || !slices.Contains(depths[colour], depth) || compression != 0 || filter != 0 || interlace > 1 {
		return refusedMalformed
	}
	w.size, w.kind = size{int(width), int(height)}, colour
	return w.size.check()
}
