package client

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
)

// tree is a Merkle tree that only grows: it has the hashes of its full subtrees from left to right, the greatest first.
type tree struct {
	size   int64
	hashes []tlog.Hash
}

// append adds an entry: as many full subtrees become one as the old size has ones at its end.
func (t *tree) append(entry keylog.Entry) {
	hash := tlog.RecordHash(entry.Bytes())
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.hashes) - 1
		hash, t.hashes = tlog.NodeHash(t.hashes[last], hash), t.hashes[:last]
	}
	t.hashes = append(t.hashes, hash)
	t.size++
}

// head is the head of the tree in the log with that origin.
func (t *tree) head(origin string) keylog.Checkpoint {
	head := keylog.Checkpoint{Origin: origin, Size: t.size}
	if t.size == 0 {
		head.Root, _ = tlog.TreeHash(0, nil) // it reads nothing
		return head
	}
	head.Root = t.hashes[len(t.hashes)-1]
	for i := len(t.hashes) - 2; i >= 0; i-- {
		head.Root = tlog.NodeHash(t.hashes[i], head.Root)
	}
	return head
}

func encodeHashes(hashes []tlog.Hash) []string {
	lines := make([]string, len(hashes))
	for i, hash := range hashes {
		lines[i] = base64.StdEncoding.EncodeToString(hash[:])
	}
	return lines
}

// tile reads the entries of a tile of a head.
func (l *KeyLog) tile(ctx context.Context, v *logView, n, size int64) ([]keylog.Entry, error) {
	width := int(min(keylog.TileWidth, size-n*keylog.TileWidth))
	path := keylog.EntriesPath(n, width)
	body, found, err := l.read(ctx, v, path)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the server does not show %s of its key log", path)
	}
	entries, err := keylog.ParseEntries(body)
	if err == nil && len(entries) != width {
		err = fmt.Errorf("it has %d entries", len(entries))
	}
	if err != nil {
		return nil, fmt.Errorf("%s of the key log: %w", path, err)
	}
	return entries, nil
}

// scan reads the entries from an index to the end of a head, in their order.
func (l *KeyLog) scan(ctx context.Context, v *logView, from, size int64, each func(index int64, entry keylog.Entry) error) error {
	for from < size {
		n := from / keylog.TileWidth
		entries, err := l.tile(ctx, v, n, size)
		if err != nil {
			return err
		}
		for _, entry := range entries[from%keylog.TileWidth:] {
			if err := each(from, entry); err != nil {
				return err
			}
			from++
		}
	}
	return nil
}

// last finds the last index of an entry in a tree of that size, -1 if it is not there. It believes the tiles.
func (l *KeyLog) last(ctx context.Context, v *logView, wanted keylog.Entry, size int64) (int64, error) {
	for n := (size - 1) / keylog.TileWidth; n >= 0 && size > 0; n-- {
		entries, err := l.tile(ctx, v, n, size)
		if err != nil {
			return -1, err
		}
		for i, entry := range slices.Backward(entries) {
			if entry == wanted {
				return n*keylog.TileWidth + int64(i), nil
			}
		}
	}
	return -1, nil
}
