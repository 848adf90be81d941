// Package keylogtest is a key log in memory for tests. It has its private key, so a test can make it lie. A Log is safe for
// concurrent use.
package keylogtest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
)

// Log is a log with its key.
type Log struct {
	Origin string
	Key    string // its vkey

	private ed25519.PrivateKey
	mu      sync.Mutex
	entries []keylog.Entry
	hashes  []tlog.Hash
	// proving is the head, with the lines of its witnesses, that proofs of its entries use; empty for none.
	proving   int64
	witnesses []note.Signer
}

// Private returns the key that follows from a name.
func Private(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// New returns an empty log. Logs with the same key are forks of each other as soon as their entries differ.
func New(origin string, private ed25519.PrivateKey) *Log {
	public, _ := private.Public().(ed25519.PublicKey)
	return &Log{Origin: origin, private: private, Key: keylog.LogKey(origin, public)}
}

// ReadHashes implements tlog.HashReader. The log is locked by its caller.
func (l *Log) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = l.hashes[index]
	}
	return found, nil
}

// Append adds an entry and returns its index.
func (l *Log) Append(entry keylog.Entry) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	index := int64(len(l.entries))
	made := must(tlog.StoredHashes(index, entry.Bytes(), l))
	l.entries, l.hashes = append(l.entries, entry), append(l.hashes, made...)
	return index
}

// Head returns the head of the first entries of the log, or of all if size is negative.
func (l *Log) Head(size int64) keylog.Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	if size < 0 {
		size = int64(len(l.entries))
	}
	return keylog.Checkpoint{Origin: l.Origin, Size: size, Root: must(tlog.TreeHash(size, l))}
}

// Checkpoint returns a signed head. Witnesses sign as well.
func (l *Log) Checkpoint(size int64, witnesses ...note.Signer) []byte {
	signers := append([]note.Signer{must(keylog.NewLogSigner(l.Origin, l.private))}, witnesses...)
	return must(note.Sign(&note.Note{Text: l.Head(size).Text()}, signers...))
}

// Witness makes witnesses sign the head of a size. From now on, proofs of its entries use this head, as a server does it.
func (l *Log) Witness(size int64, witnesses ...note.Signer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proving, l.witnesses = size, witnesses
}

// Proof returns the proof of an entry in the tree of that size.
func (l *Log) Proof(index, size int64) keylog.Proof { return l.proof(index, l.Head(size).Size) }

func (l *Log) proof(index, size int64, witnesses ...note.Signer) keylog.Proof {
	checkpoint := l.Checkpoint(size, witnesses...)
	l.mu.Lock()
	defer l.mu.Unlock()
	return keylog.Proof{Index: index, Checkpoint: checkpoint, Hashes: must(tlog.ProveRecord(size, index, l))}
}

// Consistency returns the proof that the tree of one size continues the smaller one.
func (l *Log) Consistency(older, newer int64) []tlog.Hash {
	l.mu.Lock()
	defer l.mu.Unlock()
	if older == 0 || older == newer {
		return nil
	}
	return must(tlog.ProveTree(newer, older, l))
}

// Tile returns a tile of entries with that width.
func (l *Log) Tile(n int64, width int) (tile []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, entry := range l.entries[n*keylog.TileWidth:][:width] {
		tile = append(binary.BigEndian.AppendUint16(tile, keylog.EntrySize), entry.Bytes()...)
	}
	return tile
}

// ServeHTTP answers as a server does below /log/{epoch}/, except for tiles of hashes.
func (l *Log) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	size := l.Head(-1).Size
	_, epoch, _ := strings.Cut(l.Origin, "/log/")
	path := strings.TrimPrefix(r.URL.Path, "/log/"+epoch+"/")
	index, isProof := strings.CutPrefix(path, "proof/")
	if !isProof {
		index = r.FormValue("old")
	}
	number, err := strconv.ParseInt(index, 10, 64)
	switch {
	case path == "checkpoint":
		_, _ = w.Write(l.Checkpoint(-1))
		return
	case path == "consistency" && err == nil && number <= size:
		_, _ = w.Write(must(json.Marshal(map[string]any{
			"old_size": number, "size": size, "hashes": append([]tlog.Hash{}, l.Consistency(number, size)...),
			"checkpoint": string(l.Checkpoint(size)),
		})))
		return
	case isProof && err == nil && number >= 0 && number < size:
		l.mu.Lock()
		proving, witnesses := l.proving, l.witnesses
		l.mu.Unlock()
		if number >= proving {
			proving, witnesses = size, nil
		}
		_, _ = w.Write([]byte(l.proof(number, proving, witnesses...).Text()))
		return
	}
	tile, err := tlog.ParseTilePath("tile/8/data/" + strings.TrimPrefix(path, "tile/entries/"))
	if err != nil || tile.N*keylog.TileWidth+int64(tile.W) > size {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(l.Tile(tile.N, tile.W))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Got returns the result of a call that must succeed.
func Got[T any](result T, err error) func(require.TestingT) T {
	return func(t require.TestingT) T {
		require.NoError(t, err)
		return result
	}
}

// Wait stretches a time of a test by STOA_TEST_SLACK, which also stretches the time-outs of the server.
func Wait(d time.Duration) time.Duration {
	factor, _ := strconv.ParseFloat(os.Getenv("STOA_TEST_SLACK"), 64) // 0 if it is not set
	return time.Duration(max(1, factor) * float64(d))
}
