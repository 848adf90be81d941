package keylog

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Tile names a tile, as C2SP's tlog-tiles has it.
type Tile struct {
	Epoch int
	// Entries asks for entries instead of hashes; Level is 0 then.
	Entries bool
	Level   int
	N       int64
	// Width is 256 for a full tile.
	Width int
}

// Tile returns the hashes or entries of a tile, also of epochs that have ended (§12.2). Anyone may call it. Faults: not_found
// beyond the head.
func (a *API) Tile(ctx context.Context, t Tile) (tile []byte, err error) {
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		head, err := db.One[Head](ctx, on, named("head_of"), t.Epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && t.beyond(head.Size) {
			return fault.New(fault.NotFound)
		}
		if err != nil {
			return err
		}
		if !t.Entries {
			tile, err = readHashes(ctx, on, t.Epoch, t.Level, t.N, t.Width)
			return err
		}
		entries, err := db.Column[[]byte](ctx, on, named("list_entries"), t.Epoch, t.N*tileWidth, t.N*tileWidth+int64(t.Width))
		for _, entry := range entries {
			tile = binary.BigEndian.AppendUint16(tile, entrySize)
			tile = append(tile, entry...)
		}
		return err
	})
	return tile, err
}

// beyond reports whether a tree of a size lacks hashes of the tile.
func (t Tile) beyond(size int64) bool {
	const highest = 62 / tileHeight // no tree in the database is higher
	return t.Level > highest || t.N > size || t.N*tileWidth+int64(t.Width) > size>>(tileHeight*t.Level)
}
