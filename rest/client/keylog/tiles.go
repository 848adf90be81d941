package keylog

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// TileWidth is how many entries, or hashes, a full tile has (tlog-tiles).
const TileWidth = 256

// EntriesPath is the path of a tile of entries below the log's address. width is from 1 to TileWidth, and full tiles do not name it.
func EntriesPath(n int64, width int) string { return "tile/entries/" + tilePath(n, width) }

// HashesPath is the path of a tile of hashes: of level 0 those of entries, of each further one those of the full tiles below.
func HashesPath(level int, n int64, width int) string {
	return fmt.Sprintf("tile/%d/%s", level, tilePath(n, width))
}

// tilePath writes a number in groups of three digits; all but the last begin with x.
func tilePath(n int64, width int) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	if width < TileWidth {
		path += fmt.Sprintf(".p/%d", width)
	}
	return path
}

// AppendEntry appends an entry to a tile of entries.
func AppendEntry(tile []byte, entry Entry) []byte {
	return append(binary.BigEndian.AppendUint16(tile, EntrySize), entry.Bytes()...)
}

// ParseEntries reads a tile of entries.
func ParseEntries(tile []byte) ([]Entry, error) {
	var entries []Entry
	for len(tile) > 0 {
		if len(entries) == TileWidth || len(tile) < 2 || len(tile)-2 < int(binary.BigEndian.Uint16(tile)) {
			return nil, errors.New("the tile of entries is cut off or too long")
		}
		size := 2 + int(binary.BigEndian.Uint16(tile))
		entry, err := ParseEntry(tile[2:size])
		if err != nil {
			return nil, err
		}
		entries, tile = append(entries, entry), tile[size:]
	}
	return entries, nil
}
