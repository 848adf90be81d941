package keylog_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// vectors is testdata/keylog.json, which the suites of both clients read. Bytes are in base64. Cases that are not Sound are refused.
type vectors struct {
	Host, Vkey string
	Witness    string `json:"witness_vkey"`
	Agents     []struct {
		ID, Handle, Key                string
		CreatedAt                      string `json:"created_at"`
		Salt, Label, Commitment, Entry []byte
	}
	Checkpoints []struct {
		Name, Signed string
		Sound        bool
		Size         int64
		By           map[string]int64 // when each known witness signed
	}
	Proofs []struct {
		Name, Proof string
		Entry       []byte
		Sound       bool
	}
	Consistency []struct {
		Name, Older, Newer string // texts of checkpoints
		Hashes             []string
		Sound              bool
	}
	Tile struct {
		Path    string
		N       int64
		Tile    []byte
		Entries [][]byte
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	var v vectors
	raw := keylogtest.Got(os.ReadFile("../testdata/keylog.json"))(t)
	require.NoError(t, json.Unmarshal(raw, &v)) //nolint:musttag // Go matches the names without tags
	log, witness := keylogtest.Got(keylog.ParseLogKey(v.Vkey))(t), keylogtest.Got(keylog.ParseWitnessKey(v.Witness))(t)
	require.Equal(t, []int{2, 13, 19, 23, 44}, []int{len(v.Agents), len(v.Checkpoints), len(v.Proofs), len(v.Consistency), len(v.Tile.Entries)})
	for _, a := range v.Agents {
		entry := keylog.Agent{ID: a.ID, Handle: a.Handle, Key: a.Key, CreatedAt: a.CreatedAt}.Entry(v.Host, a.Salt)
		require.Equal(t, [][]byte{a.Label, a.Commitment, a.Entry}, [][]byte{entry.Label[:], entry.Commitment[:], entry.Bytes()})
	}
	for _, c := range v.Checkpoints {
		head, err := keylog.Open([]byte(c.Signed), log, witness)
		require.Equal(t, c.Sound, err == nil, c.Name)
		require.Len(t, head.By, len(c.By), c.Name)
		for name, at := range c.By {
			require.Equal(t, at, head.By[name].Unix(), c.Name)
		}
		if c.Sound {
			require.Equal(t, c.Size, head.Size)
		}
	}
	for _, p := range v.Proofs {
		proof, err := keylog.ParseProof([]byte(p.Proof))
		if err == nil {
			_, err = proof.Check(keylogtest.Got(keylog.ParseEntry(p.Entry))(t), log)
		}
		require.Equal(t, p.Sound, err == nil, p.Name)
		require.True(t, !p.Sound || p.Proof == proof.Text())
	}
	for _, c := range v.Consistency {
		older, newer := keylogtest.Got(keylog.ParseCheckpoint(c.Older))(t), keylogtest.Got(keylog.ParseCheckpoint(c.Newer))(t)
		hashes := keylogtest.Got(keylog.ParseHashes(c.Hashes))(t)
		require.Equal(t, c.Sound, keylog.CheckConsistent(older, newer, hashes) == nil, c.Name)
	}
	require.Equal(t, v.Tile.Path, keylog.EntriesPath(v.Tile.N, len(v.Tile.Entries)))
	for i, entry := range keylogtest.Got(keylog.ParseEntries(v.Tile.Tile))(t) {
		require.Equal(t, v.Tile.Entries[i], entry.Bytes())
	}
}
