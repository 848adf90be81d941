package keylog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/keylog"
)

const host = "stoa.example"

// world is a server with a key log.
type world struct {
	*graphtest.World
	t    *testing.T
	file string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log-head")
	return &world{graphtest.New(t, func(c *graph.Config) { c.Origin, c.LogHead = "https://"+host, file }), t, file}
}

// another is one more process on the same database, with a separate head store.
func (w *world) another(file string) *keylog.API {
	return &keylog.API{
		DB: w.DB, Reads: w.KeyLog.Reads, Key: w.KeyLog.Key, Origin: "https://elsewhere.example", Signed: keylog.NewHeadStore(file),
	}
}

// sequence appends all waiting entries.
func (w *world) sequence() {
	for range 3 { // the first begins the log
		graphtest.OK(w.t)(w.KeyLog.Sequence(w.t.Context()))
	}
}

// log is an epoch as a client reads it: every entry, and the checkpoint whose root they have.
type log struct {
	origin  string
	entries [][]byte
	note    []byte
}

// read reads the tiles of an epoch and compares them with the checkpoint.
func (w *world) read(epoch int) log {
	ctx := w.t.Context()
	signed := graphtest.Got(w.KeyLog.Checkpoint(ctx, epoch))(w.t)
	tree, origin := w.open(signed, graphtest.Got(w.KeyLog.Published(ctx))(w.t).Vkeys[0])
	found := log{origin: origin, note: signed}
	for n := int64(0); n<<8 < tree.N; n++ {
		width := int(min(256, tree.N-n<<8))
		tile := graphtest.Got(w.KeyLog.Tile(ctx, epoch, tlog.Tile{L: -1, N: n, W: width}))(w.t)
		for len(tile) > 0 {
			size := 2 + int(binary.BigEndian.Uint16(tile))
			found.entries, tile = append(found.entries, tile[2:size]), tile[size:]
		}
	}
	require.Len(w.t, found.entries, int(tree.N))
	require.Equal(w.t, tree.Hash, rootOf(w.t, found.entries))
	return found
}

// open checks the signature of a checkpoint and returns its tree and origin.
func (w *world) open(signed []byte, vkey string) (tlog.Tree, string) {
	verifier := graphtest.Got(note.NewVerifier(vkey))(w.t)
	opened := graphtest.Got(note.Open(signed, note.VerifierList(verifier)))(w.t)
	origin, rest, _ := strings.Cut(opened.Text, "\n")
	require.Equal(w.t, verifier.Name(), origin)
	return graphtest.Got(tlog.ParseTree([]byte("go.sum database tree\n" + rest)))(w.t), origin
}

// labels of the agents' entries by their index. Each must occur once.
func (l log) labels(t *testing.T) map[string]int {
	t.Helper()
	at := make(map[string]int)
	for i, entry := range l.entries {
		if entry[0] == 1 {
			require.NotContains(t, at, string(entry[1:33]), "a label occurs twice")
			at[string(entry[1:33])] = i
		}
	}
	return at
}

func digest(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return sum[:]
}

func label(handle string) string { return string(digest("stoa log handle 1\n", host, "\n", handle)) }

// requireOpens requires that an agent's entry is at the index of its passport and that the passport's salt opens it.
func (w *world) requireOpens(l log, agent *graphtest.Agent) *bots.Own {
	card := graphtest.Got(w.Bots.Me(agent.Ctx))(w.t).Bot
	require.NotNil(w.t, card.KeyLog.Index)
	require.Len(w.t, card.KeyLog.Salt, 16)
	at := card.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z")
	key := base64.StdEncoding.EncodeToString(card.EncryptionPublicKey)
	commitment := digest("stoa log agent 1\n", string(card.KeyLog.Salt), card.ID.String(), "\n", card.Handle, "\n", key, "\n", at, "\n")
	require.Equal(w.t, string(bytes.Join([][]byte{{1}, []byte(label(card.Handle)), commitment}, nil)), string(l.entries[*card.KeyLog.Index]))
	return card
}

// rootOf is the root of a tree of entries.
func rootOf(t *testing.T, entries [][]byte) tlog.Hash {
	t.Helper()
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		read := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			read[i] = hashes[index]
		}
		return read, nil
	})
	for n, entry := range entries {
		hashes = append(hashes, graphtest.Got(tlog.StoredHashes(int64(n), entry, reader))(t)...)
	}
	return graphtest.Got(tlog.TreeHash(int64(len(entries)), reader))(t)
}
