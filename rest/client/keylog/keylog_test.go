package keylog_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"pgregory.net/rapid"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

const origin = "stoa.example/log/1"

func entryOf(n int) keylog.Entry { return keylog.ReceiptEntry([]byte("salt"), string(rune('a'+n))) }

func filled(t require.TestingT, entries int) (*keylogtest.Log, note.Verifier) {
	l := keylogtest.New(origin, keylogtest.Private("log"))
	for i := range entries {
		require.EqualValues(t, i, l.Append(entryOf(i)))
	}
	return l, keylogtest.Got(keylog.ParseLogKey(l.Key))(t)
}

// Every head proves each of its entries, but no other entry and no other index; every later head continues the earlier ones.
func TestProofs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 300).Draw(t, "size")
		l, log := filled(t, size)
		index := rapid.IntRange(0, size-1).Draw(t, "index")
		proof := keylogtest.Got(keylog.ParseProof([]byte(l.Proof(int64(index), int64(size)).Text())))(t)
		head := keylogtest.Got(proof.Check(entryOf(index), log))(t)
		require.Equal(t, l.Head(-1), head.Checkpoint)

		_, err := proof.Check(entryOf(index+1), log)
		require.ErrorIs(t, err, keylog.ErrNotIncluded)
		proof.Index++
		_, err = proof.Check(entryOf(index), log)
		require.ErrorIs(t, err, keylog.ErrNotIncluded)

		older := int64(rapid.IntRange(0, size).Draw(t, "older"))
		hashes := l.Consistency(older, int64(size))
		require.NoError(t, keylog.CheckConsistent(l.Head(older), l.Head(-1), hashes))
		if older < int64(size) {
			require.ErrorIs(t, keylog.CheckConsistent(l.Head(-1), l.Head(older), hashes), keylog.ErrInconsistent)
		}
		if older > 0 {
			fork, _ := filled(t, 0)
			for i := range size {
				fork.Append(entryOf(i + 1))
			}
			require.ErrorIs(t, keylog.CheckConsistent(fork.Head(older), l.Head(-1), hashes), keylog.ErrInconsistent)
		}
	})
}

func TestWitnessesAreNamedWithTheirTimes(t *testing.T) {
	t.Parallel()
	l, log := filled(t, 3)
	at := time.Unix(1_790_000_000, 0).UTC()
	signer := keylogtest.Got(keylog.NewWitnessSigner("witness.example", keylogtest.Private("witness"), func() time.Time { return at }))(t)
	stranger := keylogtest.Got(keylog.NewWitnessSigner("stranger.example", keylogtest.Private("stranger"), func() time.Time { return at }))(t)
	witness := keylogtest.Got(keylog.ParseWitnessKey(keylog.WitnessKey("witness.example", keylogtest.Private("witness").Public().(ed25519.PublicKey))))(t)

	opened := keylogtest.Got(keylog.Open(l.Checkpoint(-1, signer, stranger), log, witness))(t)
	require.Equal(t, map[string]time.Time{"witness.example": at}, opened.By)

	// A head signed only by a witness or by another log's key is refused.
	unsigned := keylogtest.Got(note.Sign(&note.Note{Text: l.Head(-1).Text()}, signer))(t)
	_, err := keylog.Open(unsigned, log, witness)
	require.ErrorIs(t, err, keylog.ErrUnsigned)
	other := keylogtest.New(origin, keylogtest.Private("other"))
	_, err = keylog.Open(other.Checkpoint(-1), log)
	require.ErrorIs(t, err, keylog.ErrUnsigned)
}

func TestVkeys(t *testing.T) {
	t.Parallel()
	public := keylogtest.Private("log").Public().(ed25519.PublicKey)
	vkey := keylog.LogKey(origin, public)
	verifier := keylogtest.Got(note.NewVerifier(vkey))(t) // the library's own reader
	parsed := keylogtest.Got(keylog.ParseLogKey(vkey))(t)
	require.Equal(t, verifier.KeyHash(), parsed.KeyHash())
	require.Equal(t, public, keylog.Public(parsed))
	for _, wrong := range []string{"", "a", "a+b+c", "+" + vkey, vkey + "A", vkey[:len(vkey)-4], keylog.WitnessKey(origin, public),
		"x" + vkey, "a b" + vkey[len(origin):]} {
		_, err := keylog.ParseLogKey(wrong)
		require.Error(t, err, wrong)
	}
	_, err := keylog.ParseWitnessKey(vkey)
	require.Error(t, err)
	_, err = keylog.NewLogSigner("a+b", keylogtest.Private("log"))
	require.Error(t, err)
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"stoa.example", "127.0.0.1:8090"} {
		found, epoch, err := keylog.HostOf(keylog.Origin(host, 12))
		require.NoError(t, err)
		require.Equal(t, host, found)
		require.Equal(t, 12, epoch)
	}
	for _, wrong := range []string{"", "a", "a/log/", "a/log/0", "a/log/-1", "a/log/01", "/log/1", "a/log/1/"} {
		_, _, err := keylog.HostOf(wrong)
		require.Error(t, err, wrong)
	}
}

// The entries have the bytes of the contract.
func TestEntries(t *testing.T) {
	t.Parallel()
	sum := func(text string) [32]byte { return sha256.Sum256([]byte(text)) }
	salt := bytes.Repeat([]byte{7}, keylog.SaltSize)
	agent := keylog.Agent{ID: "0192f0c1-0000-4000-8000-000000000001", Handle: "ada", Key: "KEY=", CreatedAt: "2026-01-01T00:00:00Z"}
	require.Equal(t, keylog.Entry{
		Type: keylog.TypeAgent, Label: sum("stoa log handle 1\nstoa.example\nada"),
		Commitment: sum("stoa log agent 1\n" + string(salt) + agent.ID + "\nada\nKEY=\n2026-01-01T00:00:00Z\n"),
	}, agent.Entry("stoa.example", salt))
	key := keylogtest.Got(keylog.KeyEntry(keylog.PurposeLog, keylogtest.Private("log").Public().(ed25519.PublicKey)))(t)
	require.Equal(t, sum("log"), key.Label)
	_, err := keylog.KeyEntry(keylog.PurposeLog, nil)
	require.Error(t, err)
	require.Equal(t, sum("stoa log receipt 1\n"+string(salt)+"a.b.c"), keylog.ReceiptEntry(salt, "a.b.c").Commitment)
	require.Zero(t, keylog.ReceiptEntry(salt, "a.b.c").Label)
	require.Equal(t, sum(origin), keylog.EpochEntry(origin, sum("root")).Label)

	require.Equal(t, key, keylogtest.Got(keylog.ParseEntry(key.Bytes()))(t))
	for _, wrong := range [][]byte{nil, make([]byte, keylog.EntrySize), append([]byte{5}, make([]byte, 64)...), key.Bytes()[1:]} {
		_, err := keylog.ParseEntry(wrong)
		require.Error(t, err)
	}
}

func TestTiles(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 300)
	entries := keylogtest.Got(keylog.ParseEntries(l.Tile(1, 44)))(t)
	require.Len(t, entries, 44)
	require.Equal(t, entryOf(256), entries[0])
	for _, wrong := range [][]byte{l.Tile(0, 2)[1:], l.Tile(0, 2)[:100], append(l.Tile(0, 256), l.Tile(0, 1)...), {0}, {0, 0}} {
		_, err := keylog.ParseEntries(wrong)
		require.Error(t, err)
	}
	require.Equal(t, "tile/entries/000", keylog.EntriesPath(0, 256))
	require.Equal(t, "tile/entries/x001/234.p/5", keylog.EntriesPath(1234, 5))
}

func FuzzParse(f *testing.F) {
	l, log := filled(f, 5)
	f.Add([]byte(l.Proof(2, 5).Text()))
	f.Add(l.Checkpoint(-1))
	f.Add(l.Tile(0, 5))
	f.Add([]byte(l.Key))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if proof, err := keylog.ParseProof(raw); err == nil {
			if _, err := proof.Check(entryOf(9), log); err == nil {
				t.Fatal("an entry that is in no log was proven")
			}
		}
		if c, err := keylog.ParseCheckpoint(string(raw)); err == nil {
			require.Equal(t, c, keylogtest.Got(keylog.ParseCheckpoint(c.Text()))(t))
		}
		_, _ = keylog.ParseEntries(raw)
		if k, err := keylog.ParseLogKey(string(raw)); err == nil {
			require.Equal(t, string(raw), keylog.LogKey(k.Name(), keylog.Public(k)))
		}
	})
}
