package inspection

import "encoding/binary"

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

// swapped is an ICC profile (a minimal matrix profile, version 2) that is sRGB with red and blue exchanged, in APP2: who
// ignores it shows red where blue is meant.
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
