package keylog

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	format "stoa/rest/client/keylog"
)

// stored is a tree as the library keeps it.
type stored []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = s[index]
	}
	return hashes, nil
}

func (s stored) add(t require.TestingT, n int64, entry []byte) stored {
	more, err := tlog.StoredHashes(n, entry, s)
	require.NoError(t, err)
	return append(s, more...)
}

func entryOf(n int64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, format.EntrySize-8), uint64(n))
}

// requireSame compares an edge with the library's tree of the same size.
func requireSame(t require.TestingT, e *edge, whole stored) {
	root, err := tlog.TreeHash(e.Size, whole)
	require.NoError(t, err)
	require.Equal(t, root, e.Root())
	for _, full := range e.roots {
		hash := whole[tlog.StoredHashIndex(full.level*tileHeight, full.n)]
		require.Equal(t, hash, full.hash, "level %d, %d", full.level, full.n)
	}
	for level := 1; level <= 2; level++ {
		count := int64(0)
		for _, full := range e.roots {
			if full.level == level {
				require.Equal(t, count, full.n)
				count++
			}
		}
		require.Equal(t, e.Size>>(tileHeight*level), count, "roots of level %d", level)
	}
	read, err := readEdge(e.Size, whole)
	require.NoError(t, err)
	require.Equal(t, e.Subtrees, read.Subtrees)
}

// An edge has the root of the library's tree, completes the roots that its tiles hold, and is read from a tree as it was written.
func TestEdgesAreThoseOfTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var (
			whole stored
			e     = new(edge)
		)
		for range rapid.IntRange(1, 1200).Draw(t, "size") {
			entry := entryOf(e.Size)
			whole = whole.add(t, e.Size, entry)
			e.append(entry)
		}
		requireSame(t, e, whole)
		roots := e.roots
		e, err := readEdge(e.Size, whole)
		require.NoError(t, err)
		e.roots = roots
		for range rapid.IntRange(1, 300).Draw(t, "more") {
			entry := entryOf(e.Size)
			whole = whole.add(t, e.Size, entry)
			e.append(entry)
		}
		requireSame(t, e, whole)
	})
}

// A tree of more than 256 tiles has roots of the second level.
func TestEdgesOfTwoLevels(t *testing.T) {
	t.Parallel()
	var (
		whole stored
		e     = new(edge)
	)
	for e.Size < 66_000 {
		entry := entryOf(e.Size)
		whole = whole.add(t, e.Size, entry)
		e.append(entry)
	}
	requireSame(t, e, whole)
}
