package rest_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// keyLog reads the key log like an independent tool, by the C2SP specifications alone.
type keyLog struct {
	*site

	origin, vkey string
}

// newKeyLog returns a site with a log and some agents in it.
func newKeyLog(t *testing.T, agents int) (*keyLog, []*graphtest.Agent) {
	t.Helper()
	s := newSite(t)
	var all []*graphtest.Agent
	for range agents {
		all = append(all, s.Agent())
	}
	l := &keyLog{site: s}
	l.sequence()
	published := s.send("GET", "/.well-known/stoa-keys.json", "", nil).ok(200)["log"].(object)
	l.origin, l.vkey = published["origin"].(string), published["vkeys"].([]any)[0].(string)
	return l, all
}

func (l *keyLog) sequence() {
	l.t.Helper()
	for range 2 { // the first one starts the log
		graphtest.OK(l.t)(l.KeyLog.Sequence(l.t.Context()))
	}
}

// open checks the signature of a checkpoint.
func (l *keyLog) open(signed string) tlog.Tree {
	l.t.Helper()
	verifier := graphtest.Got(note.NewVerifier(l.vkey))(l.t)
	opened := graphtest.Got(note.Open([]byte(signed), note.VerifierList(verifier)))(l.t)
	lines := strings.Split(opened.Text, "\n")
	require.Len(l.t, lines, 4)
	require.Equal(l.t, l.origin, lines[0])
	require.Equal(l.t, l.origin, verifier.Name())
	return tlog.Tree{N: graphtest.Got(strconv.ParseInt(lines[1], 10, 64))(l.t), Hash: graphtest.Got(tlog.ParseHash(lines[2]))(l.t)}
}

func (l *keyLog) head() tlog.Tree {
	l.t.Helper()
	return l.open(string(l.text("/log/1/checkpoint", "public, max-age=1", "text/plain; charset=utf-8")))
}

// text returns a file of the log, which has a lifetime and a type.
func (l *keyLog) text(path, lifetime, media string) []byte {
	l.t.Helper()
	return l.send("GET", path, "", nil).is(200).
		carries("Cache-Control", lifetime, "Content-Type", media, "Access-Control-Allow-Origin", "*").raw
}

// tile fetches a tile.
func (l *keyLog) tile(kind string, n int64, width int) []byte {
	l.t.Helper()
	path := fmt.Sprintf("/log/1/tile/%s/%03d", kind, n)
	if width < 256 {
		path += fmt.Sprintf(".p/%d", width)
	}
	return l.text(path, "public, max-age=31536000, immutable", "application/octet-stream")
}

func (l *keyLog) Height() int { return 8 }

func (l *keyLog) SaveTiles([]tlog.Tile, [][]byte) {}

func (l *keyLog) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	read := make([][]byte, len(tiles))
	for i, tile := range tiles {
		read[i] = l.tile(strconv.Itoa(tile.L), tile.N, tile.W)
	}
	return read, nil
}

// entries returns all entries of a head.
func (l *keyLog) entries(head tlog.Tree) [][]byte {
	l.t.Helper()
	var all [][]byte
	for n := int64(0); n<<8 < head.N; n++ {
		tile := l.tile("entries", n, int(min(256, head.N-n<<8)))
		for len(tile) > 0 {
			size := 2 + int(binary.BigEndian.Uint16(tile))
			require.Equal(l.t, 2+65, size)
			all, tile = append(all, tile[2:size]), tile[size:]
		}
	}
	require.Len(l.t, all, int(head.N))
	return all
}

// include fetches the proof of an entry, and checks it against the checkpoint in it.
func (l *keyLog) include(index int64, entry []byte) tlog.Tree {
	l.t.Helper()
	got := l.send("GET", fmt.Sprintf("/log/1/proof/%d", index), "", nil).is(200)
	proof, checkpoint, found := strings.Cut(string(got.raw), "\n\n")
	require.True(l.t, found)
	lines := strings.Split(proof, "\n")
	require.Equal(l.t, []string{"c2sp.org/tlog-proof@v1", fmt.Sprintf("index %d", index)}, lines[:2])
	head := l.open(checkpoint)
	require.NoError(l.t, tlog.CheckRecord(hashes(l.t, lines[2:]), head.N, head.Hash, index, tlog.RecordHash(entry)))
	return head
}

func hashes(t testing.TB, lines []string) []tlog.Hash {
	t.Helper()
	all := make([]tlog.Hash, len(lines))
	for i, line := range lines {
		all[i] = graphtest.Got(tlog.ParseHash(line))(t)
	}
	return all
}

// consist fetches the proof that the log continues an earlier head, and checks it.
func (l *keyLog) consist(old tlog.Tree) {
	l.t.Helper()
	got := l.send("GET", fmt.Sprintf("/log/1/consistency?old=%d", old.N), "", nil).ok(200)
	require.EqualValues(l.t, old.N, got["old_size"])
	var lines []string
	for _, hash := range got["hashes"].([]any) {
		lines = append(lines, hash.(string))
	}
	head := l.open(got["checkpoint"].(string))
	require.EqualValues(l.t, head.N, got["size"])
	require.NoError(l.t, tlog.CheckTree(hashes(l.t, lines), head.N, head.Hash, old.N, old.Hash))
}

// An independent tool rebuilds the log from its tiles, and proves entries and heads.
func TestTheKeyLogByItsTiles(t *testing.T) {
	t.Parallel()
	l, agents := newKeyLog(t, 3)
	heads := []tlog.Tree{l.head()}
	for _, more := range []int{1, 2, 260, 7} {
		for range more {
			agents = append(agents, l.Agent())
		}
		l.sequence()
		heads = append(heads, l.head())
	}
	head := heads[len(heads)-1]
	require.EqualValues(t, 2+len(agents), head.N)
	entries := l.entries(head)
	reader := tlog.TileHashReader(head, l)
	for i, entry := range entries {
		read, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, int64(i))}) // it compares the tiles with the head
		require.NoError(t, err)
		require.Equal(t, tlog.RecordHash(entry), read[0])
		if i%50 == 0 || i == len(entries)-1 {
			require.Equal(t, head, l.include(int64(i), entry))
		}
	}
	for _, old := range heads {
		l.consist(old)
	}
	empty := l.send("GET", "/log/1/consistency?old=0", "", nil).ok(200)
	require.Empty(t, empty["hashes"])

	// Each card has the opening of its entry, whose form graph/keylog proves; a change of the profile keeps it.
	for i, agent := range agents[:3] {
		own := l.get(agent, "/bots/me").has(200, object{"bot": object{"key_log": object{"index": 2 + i}}})["bot"].(object)
		l.patch(agent, "/bots/me", `{"bio":"I count.","profile_public":true}`).has(200, object{"bot": object{"key_log": own["key_log"]}})
		l.get(agents[9], "/bots/"+agent.ID.String()).has(200, object{"bot": object{"key_log": own["key_log"]}})
		listed := l.get(agents[9], "/bots?handle="+own["handle"].(string)).ok(200)
		contains(t, first(listed, "bots"), object{"key_log": own["key_log"]})
	}
	l.get(l.Agent(), "/bots/me").has(200, object{"bot": object{"key_log": object{"index": nil, "salt": nil}}})
}

// Clients behind a cache learn of a new epoch or of a new key within seconds.
func TestKeysAreCachedBriefly(t *testing.T) {
	t.Parallel()
	l, _ := newKeyLog(t, 0)
	for _, path := range []string{"/.well-known/stoa-keys.json", "/.well-known/jwks.json"} {
		got := l.send("GET", path, "", nil).is(200).carries("Cache-Control", "public, max-age=1")
		l.send("GET", path, "", nil, "If-None-Match", got.header.Get("ETag")).is(304).carries("Cache-Control", "public, max-age=1")
	}
}

// A path outside the log, or in another form, is not found.
func TestPathsOutsideTheKeyLog(t *testing.T) {
	t.Parallel()
	l, _ := newKeyLog(t, 3)
	for _, path := range []string{
		"/log/0/checkpoint", "/log/2/checkpoint", "/log/01/checkpoint", "/log/x/checkpoint", "/log/99999999999/checkpoint", "/log/1", "/log/1/tile",
		"/log/1/tile/0/000", "/log/1/tile/0/000.p/6", "/log/1/tile/0/000.p/0", "/log/1/tile/0/000.p/05", "/log/1/tile/0/000.p/256",
		"/log/1/tile/0/0.p/5", "/log/1/tile/00/000.p/5", "/log/1/tile/1/000.p/1", "/log/1/tile/64/000.p/1", "/log/1/tile/-1/000.p/1",
		"/log/1/tile/0/x000/000.p/5", "/log/1/tile/0/001/000.p/5", "/log/1/tile/0/x001/234", "/log/1/tile/0/x999/x999/x999/x999/x999/999",
		"/log/1/tile/63/x999/x999/x999/x999/x999/999", "/log/1/tile/entries/000", "/log/1/tile/entries/000.p/6", "/log/1/tile/entries/001.p/1",
		"/log/2/tile/0/000.p/1", "/log/1/proof/5", "/log/1/proof/-1", "/log/1/proof/01", "/log/2/proof/0", "/log/1/consistency?old=6",
		"/log/2/consistency?old=1", "/log/1/proof/9223372036854775807", "/log/1/consistency?old=9223372036854775807",
	} {
		l.send("GET", path, "", nil).fault(fault.NotFound)
	}
	for _, query := range []string{"", "?old=", "?old=-1", "?old=x", "?old=01", "?old=1&old=2", "?old=99999999999999999999"} {
		l.send("GET", "/log/1/consistency"+query, "", nil).fault(fault.InvalidInput)
	}
	for width := 1; width <= 5; width++ {
		require.Len(t, l.tile("0", 0, width), 32*width)
		require.Len(t, l.tile("entries", 0, width), 67*width)
	}
	l.send("POST", "/log/1/checkpoint", "", `{}`).fault(fault.MethodNotAllowed)
	require.Empty(t, l.send("HEAD", "/log/1/checkpoint", "", nil).is(200).raw)
}

// In a head, the lines of witnesses follow the log's line.
func TestCheckpointsCarryTheLinesOfWitnesses(t *testing.T) {
	t.Parallel()
	l, _ := newKeyLog(t, 1)
	head := l.head()
	alone := l.send("GET", "/log/1/checkpoint", "", nil).raw
	l.Exec("INSERT INTO log_cosignatures (epoch, size, witness, line) VALUES (1, $1, 'b', '— b AAAA'), (1, $1, 'a', '— a AAAA'), (1, 1, 'a', '— a BBBB')",
		head.N)
	require.Equal(t, string(alone)+"— a AAAA\n— b AAAA\n", string(l.send("GET", "/log/1/checkpoint", "", nil).raw))
}
