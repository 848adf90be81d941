package keylog

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/lib/pq"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	format "stoa/rest/client/keylog"
)

const (
	// tileHeight is the height of a tile, whose width is 2^tileHeight.
	tileHeight = 8
	tileWidth  = format.TileWidth
)

// edge is the right edge of a tree, with the roots of the full tiles that appends have completed.
type edge struct {
	format.Edge

	roots []root
}

// root is a row of log_roots.
type root struct {
	level int
	n     int64
	hash  tlog.Hash
}

// append appends a leaf.
func (e *edge) append(entry []byte) {
	e.Append(entry, func(level int, n int64, hash tlog.Hash) {
		if level%tileHeight == 0 {
			e.roots = append(e.roots, root{level / tileHeight, n, hash})
		}
	})
}

// readEdge reads the edge of a tree that is not empty, and verifies it against the root.
func readEdge(size int64, hashes tlog.HashReader) (*edge, error) {
	var indexes []int64
	for level, start := 62, int64(0); level >= 0; level-- {
		if size&(1<<level) != 0 {
			indexes = append(indexes, tlog.StoredHashIndex(level, start>>level))
			start += 1 << level
		}
	}
	subtrees, err := hashes.ReadHashes(indexes)
	return &edge{Edge: format.Edge{Size: size, Subtrees: subtrees}}, err
}

// errDiffers means that the stored leaves or roots do not match the head.
var errDiffers = errors.New("the key log's leaves and roots do not fit its head")

// reader reads the hashes of a head's tree from the database. Each is compared with the head's root.
type reader struct {
	tlog.HashReader
}

// hashesOf returns the reader of a head that is not empty.
func hashesOf(ctx context.Context, q db.Querier, head Head) reader {
	tree := tlog.Tree{N: head.Size, Hash: tlog.Hash(head.Root)}
	return reader{tlog.TileHashReader(tree, &tiles{ctx, q, head.Epoch, make(map[tlog.Tile][]byte)})}
}

func (r reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes, err := r.HashReader.ReadHashes(indexes)
	if failed := new(readError); err != nil && !errors.As(err, &failed) {
		err = fmt.Errorf("%w: %w", errDiffers, err)
	}
	return hashes, err
}

// tiles implements tlog.TileReader for an epoch. The library has no context.
type tiles struct {
	ctx   context.Context //nolint:containedctx // it lives for one call
	q     db.Querier
	epoch int
	known map[tlog.Tile][]byte // tiles that were read before
}

func (t *tiles) Height() int { return tileHeight }

func (t *tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	read := make([][]byte, len(wanted))
	for i, tile := range wanted {
		if t.known[tile] == nil {
			hashes, err := readHashes(t.ctx, t.q, t.epoch, tile.L, tile.N, tile.W)
			if err != nil {
				return nil, &readError{err}
			}
			t.known[tile] = hashes
		}
		read[i] = t.known[tile]
	}
	return read, nil
}

// readError is a failure to read, as opposed to wrong hashes.
type readError struct{ error }

// Unwrap returns the cause.
func (e *readError) Unwrap() error { return e.error }

// readHashes reads the first hashes of a tile.
func readHashes(ctx context.Context, q db.Querier, epoch, level int, n int64, width int) ([]byte, error) {
	first := n * tileWidth
	var hashes []byte
	if level == 0 {
		entries, err := db.Column[[]byte](ctx, q, named("list_entries"), epoch, first, first+int64(width))
		for _, entry := range entries {
			hash := tlog.RecordHash(entry)
			hashes = append(hashes, hash[:]...)
		}
		return hashes, err
	}
	roots, err := db.Column[[]byte](ctx, q, named("list_hashes"), epoch, level, first, first+int64(width))
	for _, hash := range roots {
		hashes = append(hashes, hash...)
	}
	return hashes, err
}

// write writes the entries appended to an edge, from the leaf first on, the roots that they completed, and the new head.
func (e *edge) write(ctx context.Context, q db.Querier, epoch int, first int64, entries [][]byte) error {
	if err := db.Exec(ctx, q, named("add_leaves"), epoch, first, pq.ByteaArray(entries)); err != nil {
		return err
	}
	if len(e.roots) > 0 {
		levels, numbers, hashes := make([]int64, len(e.roots)), make([]int64, len(e.roots)), make([][]byte, len(e.roots))
		for i, r := range e.roots {
			levels[i], numbers[i], hashes[i] = int64(r.level), r.n, r.hash[:]
		}
		err := db.Exec(ctx, q, named("add_roots"), epoch, pq.Int64Array(levels), pq.Int64Array(numbers), pq.ByteaArray(hashes))
		if err != nil {
			return err
		}
		e.roots = nil
	}
	root := e.Root()
	return db.Exec(ctx, q, named("set_head"), epoch, e.Size, root[:])
}

// Tile returns the hashes of a tile, or the entries of one of level -1, also of epochs that have ended (§12.2). Anyone may call
// it. Faults: not_found beyond the head.
func (a *API) Tile(ctx context.Context, epoch int, t tlog.Tile) (tile []byte, err error) {
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error {
		head, err := db.One[Head](ctx, on, named("head_of"), epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && beyond(t, head.Size) {
			return fault.New(fault.NotFound)
		}
		if err != nil {
			return err
		}
		if t.L >= 0 {
			tile, err = readHashes(ctx, on, epoch, t.L, t.N, t.W)
			return err
		}
		entries, err := db.Column[[]byte](ctx, on, named("list_entries"), epoch, t.N*tileWidth, t.N*tileWidth+int64(t.W))
		for _, entry := range entries {
			tile = append(binary.BigEndian.AppendUint16(tile, format.EntrySize), entry...)
		}
		return err
	})
	return tile, err
}

// beyond reports whether a tree of that size lacks hashes of the tile.
func beyond(t tlog.Tile, size int64) bool {
	const highest = 62 / tileHeight // no tree in the database is higher
	return t.L > highest || t.N > size || t.N*tileWidth+int64(t.W) > size>>(tileHeight*max(t.L, 0))
}
