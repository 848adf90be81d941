package inspection

import (
	"bytes"
	"encoding/binary"
)

// trailers are found from the end of a file, by the sign that they end with. start returns the offset of the first
// byte, negative if the trailer is damaged.
var trailers = []struct {
	sign  string
	start func(b []byte) int
}{
	{"cbipcbbl", photoMechanic},
	{"\xA1\xB2\xC3\xD4", fotoStation},
	{"SEFT", samsung},
	{"QDIOBS", samsungOlder},
	{"\xFF\xD9", canon},
	{"\xFF\xFF\xFF\xFF\x1B*9HWfu\x84\x93\xA2\xB1", vivo},
	{"\x10\x04", exifTool(4)}, {"\x18\x04", exifTool(4)}, {"\x10\x08", exifTool(8)}, {"\x18\x08", exifTool(8)},
}

// withoutTrailer removes a trailer at the end of b; b if it has none.
func withoutTrailer(b []byte) []byte {
	for _, t := range trailers {
		if !bytes.HasSuffix(b, []byte(t.sign)) {
			continue
		}
		if at := t.start(b); at >= 0 && at < len(b) && !beginsForeign(b[at:]) {
			return b[:at]
		}
	}
	if at := afcp(b); at >= 0 {
		return b[:at]
	}
	return b
}

// photoMechanic: IPTC records, their length, a sign.
func photoMechanic(b []byte) int {
	const foot = 12
	if len(b) < foot {
		return -1
	}
	length := int64(binary.BigEndian.Uint32(b[len(b)-foot:]))
	at := int64(len(b)) - foot - length
	if at < 0 || length == 0 || b[at] != 0x1C {
		return -1
	}
	return int(at)
}

// fotoStation: one record, its kind, its length with these, a sign. Records stand one behind the other.
func fotoStation(b []byte) int {
	const foot, kinds = 10, 4
	if len(b) < foot {
		return -1
	}
	kind, length := binary.BigEndian.Uint16(b[len(b)-foot:]), int64(binary.BigEndian.Uint32(b[len(b)-foot+2:]))
	if kind == 0 || kind > kinds || length < foot || length > int64(len(b)) {
		return -1
	}
	return len(b) - int(length)
}

// samsung: data, then a directory (SEFH) with how far before it each of them begins, its length, a sign.
func samsung(b []byte) int {
	const foot, head, entry = 8, 12, 12
	if len(b) < foot+head {
		return -1
	}
	length := int64(binary.LittleEndian.Uint32(b[len(b)-foot:]))
	at := int64(len(b)) - foot - length
	if at < 0 || length < head || !bytes.HasPrefix(b[at:], []byte("SEFH")) {
		return -1
	}
	directory := b[at : at+length]
	count := int64(binary.LittleEndian.Uint32(directory[8:]))
	if count > (length-head)/entry {
		return -1
	}
	first := at
	for i := range count {
		row := directory[head+i*entry:]
		from, size := at-int64(binary.LittleEndian.Uint32(row[4:])), int64(binary.LittleEndian.Uint32(row[8:]))
		if from < 0 || from+size > at || samsungForeign(b[from:from+size]) {
			return -1
		}
		first = min(first, from)
	}
	return int(first)
}

// samsungForeign reports whether data of Samsung begin another format behind their kind and name.
func samsungForeign(data []byte) bool {
	const head = 8
	if len(data) < head {
		return false
	}
	name := int64(binary.LittleEndian.Uint32(data[4:]))
	return name <= int64(len(data)-head) && beginsForeign(data[head+name:])
}

// samsungOlder: a directory (QDIO), its length, a sign.
func samsungOlder(b []byte) int {
	const foot = 10
	if len(b) < foot {
		return -1
	}
	at := int64(len(b)) - foot - int64(binary.LittleEndian.Uint32(b[len(b)-foot:]))
	if at < 0 || !bytes.HasPrefix(b[at:], []byte("QDIO")) {
		return -1
	}
	return int(at)
}

// canon: a head with a sign, data, and a foot with the same sign and the length of the data.
func canon(b []byte) int {
	const sign, head, foot = "CANON OPTIONAL DATA\x00", 28, 64
	if len(b) < head+foot || !bytes.HasPrefix(b[len(b)-foot:], []byte(sign)) {
		return -1
	}
	at := int64(len(b)) - foot - head - int64(binary.BigEndian.Uint32(b[len(b)-foot+len(sign):]))
	if at < 0 || !bytes.HasPrefix(b[at:], []byte(sign)) {
		return -1
	}
	return int(at)
}

// vivo: JSON, an index, a sign.
func vivo(b []byte) int { return bytes.LastIndex(b, []byte(`vivo{"`)) }

// exifTool: ExifTool's own format (MIE), whose last element holds its length in width bytes.
func exifTool(width int) func([]byte) int {
	return func(b []byte) int {
		foot := 2 + width
		tag := append([]byte("~\x00\x04\x00zmie~\x00\x00"), byte(foot))
		if len(b) < foot+len(tag) || !bytes.HasSuffix(b[:len(b)-foot], tag) {
			return -1
		}
		var length uint64
		for _, c := range b[len(b)-foot : len(b)-2] {
			length = length<<8 | uint64(c)
		}
		if length > uint64(len(b)) {
			return -1
		}
		at := len(b) - int(length)
		if at >= len(b) || !bytes.HasPrefix(b[at:], []byte("~\x10\x04")) && !bytes.HasPrefix(b[at:], []byte("~\x18\x04")) {
			return -1
		}
		return at
	}
}

// afcp: a head and a foot of 12 bytes with the same sign, and padding behind, since a foot ends with zeros. The foot holds the offset
// of the head in the file, which is wrong once a program has changed what stands before it: so the last head is taken.
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
