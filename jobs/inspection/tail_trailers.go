package inspection

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// trailer is a format of data that cameras and photo programs append to a picture. It is found from the end of a file, by its
// final sign. A number of width bytes, which begins at bytes before the end, is the trailer's length without more bytes. The
// trailer begins with one of heads.
type trailer struct {
	sign      string
	at, width int
	little    bool
	more      int
	heads     []string
	// sound checks the rest of a whole trailer; nil if there is nothing to check.
	sound func(whole []byte) bool
}

const canonSign = "CANON OPTIONAL DATA\x00"

var (
	exifToolHeads = []string{"~\x10\x04", "~\x18\x04"}
	trailers      = []trailer{
		// Photo Mechanic, FotoStation, Samsung's format and its older one, Canon.
		{sign: "cbipcbbl", at: 12, width: 4, more: 12, heads: []string{"\x1C"}},
		{sign: "\xA1\xB2\xC3\xD4", at: 8, width: 4, heads: []string{""}, sound: isFotoStation},
		{sign: "SEFT", at: 8, width: 4, little: true, more: 8, heads: []string{"SEFH"}},
		{sign: "QDIOBS", at: 10, width: 4, little: true, more: 10, heads: []string{"QDIO"}},
		{sign: "\xFF\xD9", at: 44, width: 4, more: 92, heads: []string{canonSign}, sound: isCanon},
		// ExifTool's own format (MIE), whose last element holds the length.
		{sign: "\x10\x04", at: 6, width: 4, heads: exifToolHeads, sound: isExifTool(6)},
		{sign: "\x18\x04", at: 6, width: 4, heads: exifToolHeads, sound: isExifTool(6)},
		{sign: "\x10\x08", at: 10, width: 8, heads: exifToolHeads, sound: isExifTool(10)},
		{sign: "\x18\x08", at: 10, width: 8, heads: exifToolHeads, sound: isExifTool(10)},
	}
)

// withoutTrailer removes a trailer at the end of b; b if it has none.
func withoutTrailer(b []byte) []byte {
	for _, t := range trailers {
		if !bytes.HasSuffix(b, []byte(t.sign)) {
			continue
		}
		at := t.start(b)
		if t.sign == "SEFT" && at >= 0 {
			at = samsungData(b, at)
		}
		if at >= 0 && !beginsForeign(b[at:]) {
			return b[:at]
		}
	}
	if at := max(vivo(b), afcp(b)); at >= 0 {
		return b[:at]
	}
	return b
}

// start returns the offset of the trailer that ends b, negative if it is damaged.
func (t trailer) start(b []byte) int {
	if len(b) < t.at {
		return -1
	}
	number := bytes.Clone(b[len(b)-t.at:][:t.width])
	if t.little {
		slices.Reverse(number)
	}
	length := uint64(0)
	for _, c := range number {
		length = length<<8 | uint64(c)
	}
	if length > uint64(len(b)) || int(length)+t.more > len(b) {
		return -1
	}
	at := len(b) - t.more - int(length)
	begins := func(head string) bool { return bytes.HasPrefix(b[at:], []byte(head)) }
	if at == len(b) || !slices.ContainsFunc(t.heads, begins) || t.sound != nil && !t.sound(b[at:]) {
		return -1
	}
	return at
}

// isFotoStation accepts one record: its kind, its length, a sign.
func isFotoStation(whole []byte) bool {
	const foot, kinds = 10, 4
	return len(whole) >= foot && binary.BigEndian.Uint16(whole[len(whole)-foot:])-1 < kinds
}

func isCanon(whole []byte) bool {
	const foot = 64
	return bytes.HasPrefix(whole[len(whole)-foot:], []byte(canonSign))
}

func isExifTool(foot int) func([]byte) bool {
	tag := append([]byte("~\x00\x04\x00zmie~\x00\x00"), byte(foot))
	return func(whole []byte) bool { return len(whole) >= foot && bytes.HasSuffix(whole[:len(whole)-foot], tag) }
}

// samsungData returns the offset of the first data that a Samsung directory at an offset lists. It is negative if the directory
// is damaged, or if data hold another format behind their kind and name.
func samsungData(b []byte, at int) int {
	const foot, head, entry = 8, 12, 12
	directory := b[at : len(b)-foot]
	if len(directory) < head || int64(binary.LittleEndian.Uint32(directory[8:])) > int64(len(directory)-head)/entry {
		return -1
	}
	first := at
	for i := range int(binary.LittleEndian.Uint32(directory[8:])) {
		row := directory[head+i*entry:]
		from, size := int64(at)-int64(binary.LittleEndian.Uint32(row[4:])), int64(binary.LittleEndian.Uint32(row[8:]))
		if from < 0 || from+size > int64(at) || samsungForeign(b[from:from+size]) {
			return -1
		}
		first = min(first, int(from))
	}
	return first
}

func samsungForeign(data []byte) bool {
	const head = 8
	if len(data) < head {
		return false
	}
	name := int64(binary.LittleEndian.Uint32(data[4:]))
	return name <= int64(len(data)-head) && beginsForeign(data[head+name:])
}

// vivo returns the offset of a trailer of Vivo: JSON, an index, a sign.
func vivo(b []byte) int {
	if !bytes.HasSuffix(b, []byte("\xFF\xFF\xFF\xFF\x1B*9HWfu\x84\x93\xA2\xB1")) {
		return -1
	}
	return bytes.LastIndex(b, []byte(`vivo{"`))
}

// afcp returns the offset of an AFCP trailer: a head and a foot of 12 bytes with the same sign. Padding may follow, since a foot
// ends with zeros. The foot holds the head's offset in the file, which is wrong if bytes before the head were changed; so the
// last head is taken.
func afcp(b []byte) int {
	const end = 12
	foot := bytes.LastIndex(b, []byte("AXS"))
	if foot < 0 || foot+end > len(b) || len(pastPadding(b[foot+end:])) > 0 {
		return -1
	}
	sign := b[foot : foot+4]
	at := bytes.LastIndex(b[:foot], sign)
	if sign[3] != '!' && sign[3] != '*' || at < 0 || at+end > foot || beginsForeign(b[at+end:]) {
		return -1
	}
	return at
}
