package inspection

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A JPEG 2000 file is a sequence of boxes: a length of four bytes, a type of four letters, and the content (ISO/IEC 15444-1,
// annex I).
const (
	boxHead      = 8
	boxLongHead  = 16
	boxSignature = "\x00\x00\x00\x0CjP  \x0D\x0A\x87\x0A"
	boxFree      = "free"
	boxStream    = "jp2c"
)

// neededBoxes maps the boxes that decoding may need to whether they hold boxes. All other boxes may reveal a picture's origin:
// XML, UUID (Exif, XMP, positions), labels, intellectual property, fragments elsewhere.
var neededBoxes = map[string]bool{
	"jP  ": false, "ftyp": false, "rreq": false, boxStream: false,
	"jp2h": true, "jpch": true, "jplh": true, "cgrp": true,
	"ihdr": false, "bpcc": false, "colr": false, "pclr": false, "cmap": false, "cdef": false, "opct": false, "creg": false,
}

// Markers of a codestream (ISO/IEC 15444-1, annex A).
const (
	codestreamStart = "\xFF\x4F\xFF\x51"
	markerTile      = 0x90
	markerTileData  = 0x93
	markerStreamEnd = 0xD9
	markerNote      = 0x64
	tileHead        = 12
)

// neededMarkers are the segments of a codestream that decoding may need.
var neededMarkers = []byte{0x50, 0x51, 0x52, 0x53, 0x55, 0x57, 0x58, 0x59, 0x5C, 0x5D, 0x5E, 0x5F, 0x60, 0x61, 0x63}

// stripJP2 returns a JPEG 2000 image, with or without boxes, in which all parts that decoding does not need are overwritten with
// zeros. Nothing is moved, because boxes and tiles are referred to by their offsets. It returns refusedMalformed if the
// structure cannot be followed.
func stripJP2(b []byte) ([]byte, error) {
	clean := bytes.Clone(b)
	if bytes.HasPrefix(clean, []byte(codestreamStart)) {
		return clean, stripCodestream(clean)
	}
	if !bytes.HasPrefix(clean, []byte(boxSignature)) || !bytes.Contains(clean, []byte(boxStream)) {
		return nil, refusedMalformed
	}
	if err := stripBoxes(clean, 0); err != nil {
		return nil, err
	}
	return clean, private(clean)
}

// stripBoxes overwrites boxes that are not needed, at any depth, and all bytes after the last box, which decoders ignore.
func stripBoxes(b []byte, depth int) error {
	stream := false
	for len(b) > 0 {
		if stream && !beginsBox(b) {
			clear(b)
			return nil
		}
		kind, head, length := readBox(b)
		if length == 0 || depth > maxNesting {
			return refusedMalformed
		}
		body := b[head:length]
		nested, needed := neededBoxes[kind]
		var err error
		switch {
		case !needed:
			copy(b[4:], boxFree)
			clear(body)
		case nested:
			err = stripBoxes(body, depth+1)
		case kind == boxStream:
			stream = depth == 0
			err = stripCodestream(body)
		}
		if err != nil {
			return err
		}
		b = b[length:]
	}
	return nil
}

// readBox reads the head of a box, here or of an MP4: its type, and the bytes of the head and of the whole. length is 0 if b does
// not hold the box.
func readBox(b []byte) (kind string, head, length int) {
	if len(b) < boxHead {
		return "", 0, 0
	}
	whole, head := uint64(binary.BigEndian.Uint32(b)), boxHead
	switch {
	case whole == 0: // to the end
		whole = uint64(len(b))
	case whole == 1 && len(b) >= boxLongHead:
		whole, head = binary.BigEndian.Uint64(b[boxHead:]), boxLongHead
	}
	if whole < uint64(head) || whole > uint64(len(b)) {
		return "", 0, 0
	}
	return string(b[4:boxHead]), head, int(whole)
}

// beginsBox reports whether bytes begin a box that they hold: a length, and a type of printable letters.
func beginsBox(b []byte) bool {
	if len(b) < boxHead {
		return false
	}
	for _, letter := range b[4:boxHead] {
		if letter < ' ' || letter > '~' {
			return false
		}
	}
	length := uint64(binary.BigEndian.Uint32(b))
	return length <= 1 || length >= boxHead && length <= uint64(len(b))
}

// stripCodestream overwrites the comments and unknown segments in the headers of a codestream and of its tiles, and the bytes
// after its end. A stream that is cut in a tile's data stays cut.
func stripCodestream(b []byte) error {
	if !bytes.HasPrefix(b, []byte(codestreamStart)) {
		return refusedMalformed
	}
	tile, tileEnd := 0, 0 // of the tile whose header is being read
	for at := 2; at < len(b); {
		if bytes.HasPrefix(b[at:], []byte{0xFF, markerStreamEnd}) {
			clear(b[at+2:])
			return nil
		}
		if at+4 > len(b) || b[at] != 0xFF {
			return refusedMalformed
		}
		marker := b[at+1]
		if marker == markerTileData && tile > 0 {
			if tileEnd < at+2 {
				return refusedMalformed
			}
			at, tile = tileEnd, 0
			continue
		}
		end := at + 2 + int(binary.BigEndian.Uint16(b[at+2:]))
		if end < at+4 || end > len(b) {
			return refusedMalformed
		}
		switch {
		case marker == markerTile:
			if end != at+tileHead || tile > 0 {
				return refusedMalformed
			}
			tile, tileEnd = at, at+int(binary.BigEndian.Uint32(b[at+6:]))
			if tileEnd == at { // to the end of the stream
				tileEnd = len(bytes.TrimSuffix(b, []byte{0xFF, markerStreamEnd}))
			}
			tileEnd = min(tileEnd, len(b))
		case !slices.Contains(neededMarkers, marker):
			b[at+1] = markerNote
			clear(b[at+4 : end])
		}
		at = end
	}
	return nil
}
