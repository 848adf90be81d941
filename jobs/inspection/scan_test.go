package inspection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScanJPEG(t *testing.T) {
	t.Parallel()
	whole := jpegOf(t, plain(16, 8, red))
	index := appSegment(0xE2, []byte("MPF\x00II*\x00"))
	several := jpegOf(t, plain(16, 8, red), index)
	patch := func(find, replace string) []byte {
		require.Contains(t, string(whole), find)
		return bytes.Replace(whole, []byte(find), []byte(replace), 1)
	}
	frame := "\xFF\xC0\x00\x11\x08\x00\x08\x00\x10"
	for name, row := range map[string]struct {
		file []byte
		want error
	}{
		"whole":                  {whole, nil},
		"fill bytes":             {patch("\xFF\xC0", "\xFF\xFF\xFF\xC0"), nil},
		"two pictures":           {slices.Concat(several, whole), nil},
		"two pictures, padded":   {slices.Concat(several, []byte{0, 0}, whole, []byte{0}), nil},
		"picture after one":      {slices.Concat(whole, whole), refusedTrailing},
		"cut second picture":     {slices.Concat(several, whole[:len(whole)-2]), refusedTrailing},
		"a byte more":            {append(slices.Clone(whole), 1), refusedTrailing},
		"archive behind":         {slices.Concat(whole, zipOf(t)), refusedForeign},
		"no end marker":          {whole[:len(whole)-2], refusedCut},
		"start marker only":      {whole[:3], refusedCut},
		"end right after start":  {[]byte("\xFF\xD8\xFF\xD9"), refusedMalformed},
		"scan without frame":     {append(slices.Clone(whole[:2]), whole[bytes.Index(whole, []byte{0xFF, 0xDA}):]...), refusedMalformed},
		"two frames":             {patch(frame, frame+"\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"+frame), refusedMalformed},
		"segment of length one":  {patch("\xFF\xDB\x00", "\xFF\xDB\x00\x01\xFF\xDB\x00"), refusedMalformed},
		"segment beyond the end": {patch("\xFF\xDB\x00", "\xFF\xDB\xFF"), refusedCut},
		"lossless":               {patch("\xFF\xC0", "\xFF\xC3"), refusedCoding},
		"no lines":               {patch(frame, "\xFF\xC0\x00\x11\x08\x00\x00\x00\x10"), refusedMalformed},
		"huge":                   {patch(frame, "\xFF\xC0\x00\x11\x08\xFF\xFF\xFF\xFF"), refusedPixels},
		"20 million and a few":   {patch(frame, "\xFF\xC0\x00\x11\x08\x13\x89\x0F\xA0"), refusedPixels},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scanJPEG(row.file)
			require.Equal(t, row.want, err)
			if err == nil {
				require.Equal(t, size{16, 8}, got.size)
			}
		})
	}
}

func TestScanPNG(t *testing.T) {
	t.Parallel()
	ihdr, idat, iend := header(4, 2, 2), chunk("IDAT", deflate(make([]byte, 26))...), chunk("IEND")
	damaged := chunk("IDAT", deflate(make([]byte, 26))...)
	damaged[len(damaged)-1] ^= 1
	for name, row := range map[string]struct {
		file []byte
		want error
	}{
		"whole":                    {pngFrom(ihdr, idat, iend), nil},
		"ancillary chunks":         {pngFrom(ihdr, chunk("tEXt", 'a', 0, 'b'), idat, chunk("zzZz"), iend), nil},
		"data in two chunks":       {pngFrom(ihdr, chunk("IDAT"), idat, iend), nil},
		"signature only":           {pngMagic, refusedCut},
		"a byte more":              {append(pngFrom(ihdr, idat, iend), 0), refusedTrailing},
		"archive behind":           {append(pngFrom(ihdr, idat, iend), zipOf(t)...), refusedTrailing},
		"no end":                   {pngFrom(ihdr, idat), refusedCut},
		"end with data":            {pngFrom(ihdr, idat, chunk("IEND", 1)), refusedMalformed},
		"no data":                  {pngFrom(ihdr, iend), refusedMalformed},
		"data apart":               {pngFrom(ihdr, idat, chunk("tEXt"), idat, iend), refusedMalformed},
		"no header":                {pngFrom(idat, iend), refusedMalformed},
		"two headers":              {pngFrom(ihdr, ihdr, idat, iend), refusedMalformed},
		"wrong checksum":           {pngFrom(ihdr, damaged, iend), refusedChecksum},
		"unknown critical chunk":   {pngFrom(ihdr, chunk("ABCD"), idat, iend), refusedMalformed},
		"palette missing":          {pngFrom(header(4, 2, 3), idat, iend), refusedMalformed},
		"palette of two bytes":     {pngFrom(ihdr, chunk("PLTE", 1, 2), idat, iend), refusedMalformed},
		"colour type 5":            {pngFrom(header(4, 2, 5), idat, iend), refusedMalformed},
		"no width":                 {pngFrom(header(0, 2, 2), idat, iend), refusedMalformed},
		"beyond 31 bits":           {pngFrom(header(1<<31, 1, 2), idat, iend), refusedMalformed},
		"20,000 by 20,000":         {pngFrom(header(20000, 20000, 2), idat, iend), refusedPixels},
		"animation":                {pngFrom(ihdr, chunk("acTL", 0, 0, 0, 2, 0, 0, 0, 0), idat, iend), refusedAnimated},
		"animation of one frame":   {pngFrom(ihdr, chunk("acTL", 0, 0, 0, 1, 0, 0, 0, 0), idat, iend), refusedAnimated},
		"frames without animation": {pngFrom(ihdr, idat, chunk("fdAT", 0, 0, 0, 1), iend), refusedAnimated},
		"length beyond the end":    {pngFrom(ihdr, []byte("\xFF\xFF\xFF\xFFIDAT\x00\x00\x00\x00")), refusedCut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scanPNG(row.file)
			require.Equal(t, row.want, err)
			if err == nil {
				require.Equal(t, size{4, 2}, got.size)
			}
		})
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	archive := zipOf(t)
	commented := append(slices.Clone(archive), "IEND"...)
	commented[len(archive)-2] = 4
	for name, row := range map[string]struct {
		file []byte
		want bool
	}{
		"archive":            {archive, true},
		"archive behind":     {append([]byte("%PDF-1.7 %%EOF"), archive...), true},
		"end in a comment":   {commented, true},
		"something follows":  {append(slices.Clone(archive), 0), false},
		"cut record":         {archive[:len(archive)-1], false},
		"two, the last cut":  {append(slices.Clone(commented), "PK\x05\x06"...), false},
		"signature alone":    {[]byte("PK\x05\x06"), false},
		"nothing":            {nil, false},
		"plain":              {bytes.Repeat([]byte("x"), 100_000), false},
		"far from the end":   {append(slices.Clone(archive), make([]byte, 70_000)...), false},
		"behind much else":   {append(make([]byte, 70_000), archive...), true},
		"record then record": {slices.Concat(archive, archive), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, isArchive(row.file))
		})
	}
}

// FuzzScanJPEG, FuzzScanPNG and FuzzScanPDF: for any bytes, a walk ends with a verdict, and an accepted image is within bounds
// and has only one end.
func FuzzScanJPEG(f *testing.F) {
	f.Add([]byte("\xFF\xD8\xFF\xC0\x00\x08\x08\x00\x08\x00\x10\x01\xFF\xDA\x00\x02\x01\xFF\x00\xFF\xD9"))
	f.Add([]byte("\xFF\xD8\xFF\xE2\x00\x06MPF\x00\xFF\xD9\xFF\xD8\xFF\xD9"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := scanJPEG(file)
		if err != nil {
			require.IsType(t, refusal(""), err)
			return
		}
		require.NoError(t, got.size.check())
		_, err = scanJPEG(append(slices.Clone(file), 1))
		require.Error(t, err)
	})
}

func FuzzScanPNG(f *testing.F) {
	f.Add(pngFrom(header(4, 2, 2), chunk("IDAT", 0), chunk("IEND")))
	f.Add(pngFrom(header(4, 2, 3), chunk("PLTE", 0, 0, 0), chunk("IDAT", 0), chunk("acTL"), chunk("IEND")))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := scanPNG(file)
		if err != nil {
			require.IsType(t, refusal(""), err)
			return
		}
		require.NoError(t, got.check())
		_, err = scanPNG(append(slices.Clone(file), 1))
		require.Error(t, err)
	})
}

func FuzzScanPDF(f *testing.F) {
	f.Add(pdfOf("", page("", "/Contents 4 0 R/A<</S/URI/URI(x\\)#)>>")...))
	f.Add([]byte("%PDF-1.7 1 0 obj<</Type/ObjStm>>stream\n\x78\x9c\x03\x00\x00\x00\x00\x01%%EOF"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := scanPDF(file); err != nil {
			require.IsType(t, refusal(""), err)
		}
	})
}

// The checksum over all image data of a PNG is checked like the chunks' checksums, also if the data come in several chunks.
func TestAdlerOfPNG(t *testing.T) {
	t.Parallel()
	ihdr, iend, data := header(4, 2, 2), chunk("IEND"), deflate(make([]byte, 26))
	wrong := append([]byte(nil), data...)
	wrong[len(wrong)-1] ^= 1
	for name, row := range map[string]struct {
		parts [][]byte
		want  error
	}{
		"right":                  {[][]byte{data}, nil},
		"right, in parts":        {[][]byte{data[:5], {}, data[5 : len(data)-2], data[len(data)-2:]}, nil},
		"wrong":                  {[][]byte{wrong}, refusedChecksum},
		"wrong, in parts":        {[][]byte{wrong[:5], wrong[5 : len(data)-2], wrong[len(data)-2:]}, refusedChecksum},
		"more pixels than shown": {[][]byte{deflate(make([]byte, 100))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := [][]byte{ihdr}
			for _, part := range row.parts {
				chunks = append(chunks, chunk("IDAT", part...))
			}
			_, err := scanPNG(pngFrom(append(chunks, iend)...))
			require.Equal(t, row.want, err)
			if reason, refused := errors.AsType[refusal](row.want); refused {
				require.Equal(t, string(reason), inspected(t, pngFrom(append(chunks, iend)...), Avatar).Reason)
			}
		})
	}
}

// An image of 20 million pixels is scanned, one with a pixel more is refused for its size alone (§8).
func TestBoundOfPixels(t *testing.T) {
	t.Parallel()
	whole := jpegOf(t, plain(16, 8, red))
	for _, c := range []struct {
		width, height uint32
		refused       bool
	}{
		{5000, 4000, false}, {4000, 5000, false}, {50_000, 400, false}, {4001, 5000, true}, {50_000, 401, true}, {65_535, 306, true},
	} {
		_, err := scanPNG(pngFrom(header(c.width, c.height, 2), chunk("IDAT", deflate(make([]byte, 26))...), chunk("IEND")))
		require.Equal(t, c.refused, errors.Is(err, refusedPixels), "PNG of %d by %d: %v", c.width, c.height, err)

		frame := append(binary.BigEndian.AppendUint16([]byte("\xFF\xC0\x00\x11\x08"), uint16(c.height)), byte(c.width>>8), byte(c.width))
		_, err = scanJPEG(bytes.Replace(whole, []byte("\xFF\xC0\x00\x11\x08\x00\x08\x00\x10"), frame, 1))
		require.Equal(t, c.refused, errors.Is(err, refusedPixels), "JPEG of %d by %d: %v", c.width, c.height, err)
	}
	_, err := scanPNG(pngFrom(header(20_000_001, 1, 2), chunk("IDAT", deflate(make([]byte, 26))...), chunk("IEND")))
	require.Equal(t, refusedPixels, err)
}
