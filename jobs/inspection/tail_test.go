package inspection

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Trailers as the programs write them; each holds words that no preview or copy may show.
func photoMechanicTrailer() []byte {
	records := []byte("\x1C\x02\xDD\x00\x04\x00\x00\x00\x01\x1C\x02\xDE\x00\x04secr")
	return append(binary.BigEndian.AppendUint32(records, uint32(len(records))), "cbipcbbl"...)
}

func fotoStationRecord(kind uint16, data string) []byte {
	b := binary.BigEndian.AppendUint16([]byte(data), kind)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data)+10)), "\xA1\xB2\xC3\xD4"...)
}

func afcpTrailer(sign string) []byte {
	return []byte(sign + "\x00\x01\x00\x01\x00\x00\x00\x00TEXT\x00\x00\x00\x06\x00\x00\x00\x00secret" + sign + "\x00\x00\x00\x09\x00\x00\x00\x00")
}

func exifToolTrailer() []byte {
	b := []byte("~\x10\x04\xFE0MIE~\x00\x06\x06Authorsecret~\x00\x04\x00zmie~\x00\x00\x06")
	return append(binary.BigEndian.AppendUint32(b, uint32(len(b)+6)), 0x10, 4)
}

func samsungTrailer(names map[string]string) []byte {
	var data []byte
	directory := binary.LittleEndian.AppendUint32([]byte("SEFHe\x00\x00\x00"), uint32(len(names)))
	for name, content := range names {
		block := binary.LittleEndian.AppendUint32([]byte{0, 0, 1, 0x0A}, uint32(len(name)))
		data = append(append(append(data, block...), name...), content...)
		directory = append(directory, 0, 0, 1, 0x0A)
		directory = binary.LittleEndian.AppendUint32(directory, uint32(len(data))) // right for one
		directory = binary.LittleEndian.AppendUint32(directory, uint32(len(block)+len(name)+len(content)))
	}
	return slices.Concat(data, directory, binary.LittleEndian.AppendUint32(nil, uint32(len(directory))), []byte("SEFT"))
}

func canonTrailer() []byte {
	const sign = "CANON OPTIONAL DATA\x00"
	length := "\x00\x00\x00\x06"
	return []byte(sign + "\x00\x01\x00\x00" + length + "secret" + sign + length + strings.Repeat("\x00", 38) + "\xFF\xD9")
}

func film() []byte {
	return slices.Concat(box("ftyp", []byte("mp42\x00\x00\x00\x00isommp42")...), box("moov", box("mvhd", make([]byte, 100)...)...),
		box("mdat", []byte("secret film \x00\x00")...))
}

// TestTails: data that cameras and photo programs put behind a picture are accepted, alone and padded; anything else is not.
func TestTails(t *testing.T) {
	t.Parallel()
	whole := jpegOf(t, plain(16, 8, red))
	zeros, ones := make([]byte, 4096), bytes.Repeat([]byte{0xFF}, 100)
	sound := map[string][]byte{
		"zeros":             zeros,
		"a zero":            {0},
		"FF":                ones,
		"one FF":            {0xFF},
		"zeros and FF":      slices.Concat(zeros, ones, zeros),
		"AFCP":              afcpTrailer("AXS!"),
		"AFCP, other order": afcpTrailer("AXS*"),
		"FotoStation":       slices.Concat(fotoStationRecord(1, "\x1C\x02\x00\x00\x02\x00\x02secret"), fotoStationRecord(3, string(whole))),
		"Photo Mechanic":    photoMechanicTrailer(),
		"ExifTool":          exifToolTrailer(),
		"Samsung":           samsungTrailer(map[string]string{"Image_UTC_Data": "1486666298918"}),
		"Samsung's film":    samsungTrailer(map[string]string{"MotionPhoto_Data": string(film())}),
		"film":              film(),
		"Canon":             canonTrailer(),
		"vivo":              []byte("vivo{\"a\":1}\x00\x00\x01\"cameralbum!\x00\x1F\xFF\xFF\xFF\xFF\x1B*9HWfu\x84\x93\xA2\xB1"),
		"several":           slices.Concat(zeros, film(), afcpTrailer("AXS!"), zeros, photoMechanicTrailer(), exifToolTrailer(), ones),
	}
	refused := map[string]struct {
		tail []byte
		want refusal
	}{
		"a byte":                       {[]byte{1}, refusedTrailing},
		"text":                         {[]byte("hello"), refusedTrailing},
		"padding and a byte":           {append(bytes.Clone(zeros), 1), refusedTrailing},
		"ZIP":                          {zipOf(t), refusedForeign},
		"ZIP behind padding":           {slices.Concat(zeros, zipOf(t)), refusedForeign},
		"ZIP in a trailer":             {fotoStationRecord(1, string(zipOf(t))), refusedForeign},
		"ZIP in Samsung's":             {samsungTrailer(map[string]string{"MotionPhoto_Data": string(zipOf(t))}), refusedForeign},
		"PDF":                          {pdfOf("", page("", "")...), refusedForeign},
		"PDF before a trailer":         {slices.Concat(pdfOf("", page("", "")...), photoMechanicTrailer()), refusedForeign},
		"HTML":                         {[]byte("<HTML><body>"), refusedForeign},
		"HTML in a trailer":            {fotoStationRecord(2, "x<HtMl>"), refusedForeign},
		"script":                       {fotoStationRecord(2, "<script>alert(1)</script>"), refusedForeign},
		"PHP":                          {append(film(), box("free", []byte("<?php phpinfo();")...)...), refusedForeign},
		"shell":                        {slices.Concat(zeros, []byte("#!/bin/sh\n")), refusedForeign},
		"ELF":                          {box("ftyp", []byte("\x7FELF\x02\x01\x01\x00")...), refusedForeign},
		"Windows program":              {[]byte("MZ\x90\x00"), refusedForeign},
		"Windows program in Samsung's": {samsungTrailer(map[string]string{"X": "MZ\x90\x00"}), refusedTrailing},
		"gzip":                         {[]byte("\x1F\x8B\x08\x00"), refusedForeign},
		"gzip in a trailer":            {slices.Concat(afcpTrailer("AXS!"), fotoStationRecord(2, "\x1F\x8B\x08\x00")), refusedTrailing},
		"tar":                          {append(append(make([]byte, 257), "ustar\x0000"...), make([]byte, 500)...), refusedForeign},
		"RAR":                          {[]byte("Rar!\x1A\x07\x00"), refusedForeign},
		"film without pictures":        {box("ftyp", []byte("mp42")...), refusedTrailing},
		"film, cut":                    {film()[:len(film())-1], refusedTrailing},
		"film that does not begin":     {box("moov"), refusedTrailing},
		"AFCP without a head":          {afcpTrailer("AXS!")[12:], refusedTrailing},
		"FotoStation, too long":        {fotoStationRecord(1, "secret")[1:], refusedTrailing},
		"FotoStation, unknown kind":    {fotoStationRecord(9, "secret"), refusedTrailing},
		"Photo Mechanic, too long":     {photoMechanicTrailer()[1:], refusedTrailing},
		"Samsung without a directory":  {[]byte("\x10\x00\x00\x00SEFT"), refusedTrailing},
		"ExifTool without a head":      {exifToolTrailer()[1:], refusedTrailing},
		"something before a trailer":   {append([]byte("x"), photoMechanicTrailer()...), refusedTrailing},
		"more than 10 MiB":             {make([]byte, maxJPEGTail+1), refusedTrailing},
		"picture without an index":     {whole, refusedTrailing},
	}
	for name, tail := range sound {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, padded := range [][]byte{tail, slices.Concat(zeros, tail), slices.Concat(tail, zeros), slices.Concat(ones, tail, ones)} {
				got, err := scanJPEG(slices.Concat(whole, padded))
				require.NoError(t, err)
				require.Len(t, whole, got.length)
			}
			_, err := scanJPEG(slices.Concat(whole, tail, []byte("more")))
			require.Equal(t, refusedTrailing, err)
		})
	}
	for name, row := range refused {
		t.Run("refused: "+name, func(t *testing.T) {
			t.Parallel()
			_, err := scanJPEG(slices.Concat(whole, row.tail))
			require.Equal(t, row.want, err)
		})
	}
}

// TestTailsAreNotShown: a preview and a public copy hold no bytes from behind the picture's end.
func TestTailsAreNotShown(t *testing.T) {
	t.Parallel()
	index := appSegment(0xE2, []byte("MPF\x00II*\x00"))
	second := jpegOf(t, plain(16, 8, blue), appSegment(0xFE, []byte("secret comment")))
	file := slices.Concat(jpegOf(t, plain(40, 30, red), index), second, []byte{0, 0}, film(), afcpTrailer("AXS!"), exifToolTrailer())
	report := accepted(t, inspectedAndPublished(t, file, Portfolio))
	for _, made := range [][]byte{report.Preview, report.Published} {
		near(t, red, shown(t, made), 20, 15)
		require.NotContains(t, string(made), "secret")
		require.Equal(t, len(made), bytes.LastIndex(made, jpegEnd)+2)
	}
}

// FuzzTail: for any bytes after a picture, the walk ends with a verdict; it accepts no signature of another format, and no byte
// beyond the accepted data.
func FuzzTail(f *testing.F) {
	for _, seed := range [][]byte{
		{0, 0xFF}, afcpTrailer("AXS!"), fotoStationRecord(1, "x"), photoMechanicTrailer(), exifToolTrailer(), film(),
		samsungTrailer(map[string]string{"Image_UTC_Data": "1"}), []byte("QDIOe\x00\x00\x00\x08\x00\x00\x00QDIOBS"),
	} {
		f.Add(seed, true)
		f.Add(slices.Concat(seed, seed), false)
	}
	f.Fuzz(func(t *testing.T, tail []byte, several bool) {
		err := checkTail(tail, several)
		if err != nil {
			require.IsType(t, refusal(""), err)
			return
		}
		require.Error(t, checkTail(append(bytes.Clone(tail), "<html>"...), several))
		for _, sign := range []string{"%PDF-", "<script", "#!/bin/sh"} {
			require.NotContains(t, strings.ToLower(string(tail)), strings.ToLower(sign))
		}
	})
}
