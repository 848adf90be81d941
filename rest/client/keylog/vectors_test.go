package keylog_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

var update = flag.Bool("update", false, "write the vectors")

// vectors is testdata/keylog.json, which the suites of both clients read. Bytes are in base64.
type vectors struct {
	Host        string             `json:"host"`
	Vkey        string             `json:"vkey"`
	Witness     string             `json:"witness_vkey"`
	Agents      []agentVector      `json:"agents"`
	Checkpoints []checkpointVector `json:"checkpoints"`
	Proofs      []proofVector      `json:"proofs"`
	Consistency []headsVector      `json:"consistency"`
	Tile        tileVector         `json:"tile"`
}

type agentVector struct {
	ID         string `json:"id"`
	Handle     string `json:"handle"`
	Key        string `json:"key"`
	CreatedAt  string `json:"created_at"`
	Salt       []byte `json:"salt"`
	Label      []byte `json:"label"`
	Commitment []byte `json:"commitment"`
	Entry      []byte `json:"entry"`
}

// checkpointVector is a signed checkpoint. A valid one has the times at which each known witness signed.
type checkpointVector struct {
	Name   string           `json:"name"`
	Signed string           `json:"signed"`
	Sound  bool             `json:"sound"`
	Size   int64            `json:"size"`
	By     map[string]int64 `json:"by"`
}

type proofVector struct {
	Name  string `json:"name"`
	Proof string `json:"proof"`
	Entry []byte `json:"entry"`
	Sound bool   `json:"sound"`
}

type headsVector struct {
	Name   string   `json:"name"`
	Older  string   `json:"older"` // the text of a checkpoint
	Newer  string   `json:"newer"`
	Hashes []string `json:"hashes"`
	Sound  bool     `json:"sound"`
}

type tileVector struct {
	Path    string   `json:"path"`
	N       int64    `json:"n"`
	Size    int64    `json:"size"`
	Tile    []byte   `json:"tile"`
	Entries [][]byte `json:"entries"`
}

const vectorsFile = "../testdata/keylog.json"

func TestVectors(t *testing.T) {
	t.Parallel()
	l, log := filled(t, 300)
	host, _, err := keylog.HostOf(origin)
	require.NoError(t, err)
	witnessKey := keylog.WitnessKey("witness.example", keylogtest.Private("witness").Public().(ed25519.PublicKey))
	witness := keylogtest.Got(keylog.ParseWitnessKey(witnessKey))(t)
	tile := keylogtest.Got(keylog.ParseEntries(l.Tile(1, 44)))(t)
	v := vectors{
		Host: host, Vkey: l.Key, Witness: witnessKey, Agents: agentVectors(host), Checkpoints: checkpointVectors(t, l), Proofs: proofVectors(l),
		Consistency: headsVectors(l), Tile: tileVector{Path: keylog.EntriesPath(1, 44), N: 1, Size: 300, Tile: l.Tile(1, 44)},
	}
	for _, entry := range tile {
		v.Tile.Entries = append(v.Tile.Entries, entry.Bytes())
	}
	for _, c := range v.Checkpoints {
		head, err := keylog.Open([]byte(c.Signed), log, witness)
		require.Equal(t, c.Sound, err == nil, c.Name)
		if err == nil {
			require.Equal(t, c.Size, head.Size)
			require.Len(t, head.By, len(c.By))
		}
	}
	for _, p := range v.Proofs {
		entry := keylogtest.Got(keylog.ParseEntry(p.Entry))(t)
		proof, err := keylog.ParseProof([]byte(p.Proof))
		if err == nil {
			_, err = proof.Check(entry, log)
		}
		require.Equal(t, p.Sound, err == nil, p.Name)
	}
	for _, c := range v.Consistency {
		older := keylogtest.Got(keylog.ParseCheckpoint(c.Older))(t)
		newer := keylogtest.Got(keylog.ParseCheckpoint(c.Newer))(t)
		hashes := keylogtest.Got(keylog.ParseHashes(c.Hashes))(t)
		require.Equal(t, c.Sound, keylog.CheckConsistent(older, newer, hashes) == nil, c.Name)
	}
	text := keylogtest.Got(json.MarshalIndent(v, "", "  "))(t)
	if *update {
		require.NoError(t, os.WriteFile(vectorsFile, append(text, '\n'), 0o600))
	}
	kept := keylogtest.Got(os.ReadFile(vectorsFile))(t)
	require.JSONEq(t, string(kept), string(text), "run go test ./rest/client/keylog -run Vectors -update if this is meant")
}

func agentVectors(host string) []agentVector {
	made := []agentVector{
		{ID: "0192f0c1-2222-7000-8000-000000000001", Handle: "ada", Key: "KEY=", CreatedAt: "2026-01-01T00:00:00Z"},
		{ID: "0192f0c1-2222-7000-8000-000000000002", Handle: "ben_9", Key: "a+/=", CreatedAt: "2026-01-01T00:00:00.123456Z"},
	}
	for i := range made {
		a := &made[i]
		a.Salt = bytes.Repeat([]byte{byte(200 + i)}, keylog.SaltSize)
		entry := keylog.Agent{ID: a.ID, Handle: a.Handle, Key: a.Key, CreatedAt: a.CreatedAt}.Entry(host, a.Salt)
		a.Label, a.Commitment, a.Entry = entry.Label[:], entry.Commitment[:], entry.Bytes()
	}
	return made
}

func checkpointVectors(t *testing.T, l *keylogtest.Log) []checkpointVector {
	t.Helper()
	at := time.Unix(1_790_000_000, 0)
	witnessAs := func(name, key string) note.Signer {
		return keylogtest.Got(keylog.NewWitnessSigner(name, keylogtest.Private(key), func() time.Time { return at }))(t)
	}
	sound := func(name string, size int64, by map[string]int64, witnesses ...note.Signer) checkpointVector {
		return checkpointVector{Name: name, Signed: string(l.Checkpoint(size, witnesses...)), Sound: true, Size: size, By: by}
	}
	none, signed := map[string]int64{}, map[string]int64{"witness.example": at.Unix()}
	plain := sound("signed by the log", 300, none)
	cosigned := sound("signed by a witness", 5, signed, witnessAs("witness.example", "witness"))
	alone := keylogtest.Got(note.Sign(&note.Note{Text: l.Head(-1).Text()}, witnessAs("witness.example", "witness")))(t)
	made := []checkpointVector{
		plain, cosigned, sound("of an empty log", 0, none), sound("signed by a stranger", 7, none, witnessAs("stranger.example", "stranger")),
		sound("signed by another key of the witness's name", 7, none, witnessAs("witness.example", "stranger")),
	}
	for name, text := range map[string]string{
		"by a witness alone":       string(alone),
		"by another log's key":     string(keylogtest.New(origin, keylogtest.Private("other")).Checkpoint(-1)),
		"by a log of another name": string(keylogtest.New("other.example/log/1", keylogtest.Private("log")).Checkpoint(-1)),
		"with another size":        strings.Replace(plain.Signed, "\n300\n", "\n301\n", 1),
		"with another time":        retimed(cosigned.Signed),
		"without signatures":       plain.Signed[:strings.Index(plain.Signed, "— ")],
		"cut off":                  plain.Signed[:len(plain.Signed)-1],
		"empty":                    "",
	} {
		made = append(made, checkpointVector{Name: name, Signed: text, By: none})
	}
	sortByName(made[5:])
	return made
}

// retimed changes the last byte of the time in the last line, which is a witness's.
func retimed(signed string) string {
	i := strings.LastIndex(signed, " ") + 1
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimSuffix(signed[i:], "\n"))
	raw[11] ^= 1
	return signed[:i] + base64.StdEncoding.EncodeToString(raw) + "\n"
}

func sortByName(made []checkpointVector) {
	for i := range made {
		for j := i; j > 0 && made[j].Name < made[j-1].Name; j-- {
			made[j], made[j-1] = made[j-1], made[j]
		}
	}
}

func proofVectors(l *keylogtest.Log) []proofVector {
	var made []proofVector
	for _, at := range []struct{ index, size int64 }{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {4, 7}, {6, 7}, {7, 8}, {255, 256}, {256, 300}, {299, 300}} {
		made = append(made, proofVector{"sound", l.Proof(at.index, at.size).Text(), entryOf(int(at.index)).Bytes(), true})
	}
	wrong := func(name string, change func(*keylog.Proof)) {
		proof := l.Proof(6, 11)
		change(&proof)
		made = append(made, proofVector{name, proof.Text(), entryOf(6).Bytes(), false})
	}
	wrong("another index", func(p *keylog.Proof) { p.Index = 7 })
	wrong("an index beyond the tree", func(p *keylog.Proof) { p.Index = 11 })
	wrong("a hash that is missing", func(p *keylog.Proof) { p.Hashes = p.Hashes[1:] })
	wrong("a hash too many", func(p *keylog.Proof) { p.Hashes = append(p.Hashes, tlog.Hash{}) })
	wrong("a hash that was changed", func(p *keylog.Proof) { p.Hashes[1][3] ^= 1 })
	wrong("no hashes", func(p *keylog.Proof) { p.Hashes = nil })
	wrong("the head of another tree", func(p *keylog.Proof) { p.Checkpoint = l.Checkpoint(12) })
	wrong("a checkpoint that is not signed", func(p *keylog.Proof) { p.Checkpoint = []byte(l.Head(11).Text()) })
	return append(made, proofVector{"another entry", l.Proof(6, 11).Text(), entryOf(7).Bytes(), false})
}

func headsVectors(l *keylogtest.Log) []headsVector {
	heads := func(name string, older, newer int64, sound bool, change func(*headsVector)) headsVector {
		v := headsVector{name, l.Head(older).Text(), l.Head(newer).Text(), []string{}, sound}
		if older <= newer {
			for _, hash := range l.Consistency(older, newer) {
				v.Hashes = append(v.Hashes, hash.String())
			}
		}
		if change != nil {
			change(&v)
		}
		return v
	}
	var made []headsVector
	for _, at := range [][2]int64{{0, 0}, {0, 5}, {1, 1}, {1, 2}, {1, 300}, {2, 3}, {3, 4}, {4, 8}, {6, 7}, {7, 300}, {256, 300}, {299, 300}, {300, 300}} {
		made = append(made, heads("sound", at[0], at[1], true, nil))
	}
	return append(made,
		heads("a smaller head", 7, 6, false, nil),
		heads("no proof", 6, 11, false, func(v *headsVector) { v.Hashes = []string{} }),
		heads("no proof from a full tree", 8, 11, false, func(v *headsVector) { v.Hashes = []string{} }),
		heads("a proof from another size", 6, 11, false, func(v *headsVector) { v.Hashes = heads("", 7, 11, true, nil).Hashes }),
		heads("a hash that is missing", 6, 11, false, func(v *headsVector) { v.Hashes = v.Hashes[1:] }),
		heads("a hash too many", 6, 11, false, func(v *headsVector) { v.Hashes = append(v.Hashes, v.Hashes[0]) }),
		heads("another older root", 6, 11, false, func(v *headsVector) { v.Older = strings.Replace(l.Head(5).Text(), "\n5\n", "\n6\n", 1) }),
		heads("another newer root", 6, 11, false, func(v *headsVector) { v.Newer = strings.Replace(l.Head(12).Text(), "\n12\n", "\n11\n", 1) }),
		heads("another root of the same size", 6, 6, false, func(v *headsVector) { v.Newer = strings.Replace(l.Head(5).Text(), "\n5\n", "\n6\n", 1) }),
		heads("another origin", 6, 11, false, func(v *headsVector) { v.Newer = strings.Replace(v.Newer, "/log/1", "/log/2", 1) }),
	)
}
