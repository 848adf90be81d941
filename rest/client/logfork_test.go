package client_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// A log that was rewritten, has shrunk, or is signed by another key is refused, and both checkpoints are kept.
func TestAForkIsKeptAsEvidence(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(s *logServer, honest *keylogtest.Log){
		"rewritten": func(s *logServer, _ *keylogtest.Log) {
			s.fill(5) // the same size with other entries
			s.register("carol")
		},
		"grown differently": func(s *logServer, _ *keylogtest.Log) {
			s.fill(50)
			s.register("carol")
		},
		"older":         func(s *logServer, _ *keylogtest.Log) { s.register("carol") },
		"another's key": func(s *logServer, _ *keylogtest.Log) { s.begin(1, "eve"); s.fill(20); s.register("carol") },
		"another's name": func(s *logServer, _ *keylogtest.Log) {
			s.published["origin"] = "evil.example/log/1"
			s.register("carol")
		},
		"a former epoch":  func(s *logServer, _ *keylogtest.Log) { s.published["origin"] = logHost + "/log/0"; s.register("carol") },
		"a new vkey only": func(s *logServer, honest *keylogtest.Log) { s.announce(honest); s.register("carol") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLogServer(t)
			ada, ben := s.register("ada"), s.register("ben")
			s.fill(4)
			file := filepath.Join(t.TempDir(), "agent.key")
			a := s.agentOf(file, ada, client.Checks{})
			require.NoError(t, a.Meet(t.Context(), ben.brief()))
			honest := s.logs[1]
			kept, _, err := a.Trust.Log()
			require.NoError(t, err)
			if name != "a new vkey only" {
				s.begin(1, "log")
			}
			lie(s, honest)
			for range 2 { // the same evidence is kept once
				require.ErrorIs(t, errOf(a.Find(t.Context(), "carol")), client.ErrLogForked)
			}
			evidence := must(filepath.Glob(file + ".trust.fork.*"))(t)
			require.Len(t, evidence, 2)
			require.Equal(t, kept.Note, string(must(os.ReadFile(evidence[0]))(t)))
			served := must(os.ReadFile(evidence[1]))(t)
			require.NotEmpty(t, served)
			if key := must(keylog.ParseLogKey(honest.Key))(t); slices.Contains([]string{"rewritten", "grown differently", "older"}, name) {
				_, err = keylog.Open(served, key) // the server has signed both
				require.NoError(t, err)
			}
			now, _, err := a.Trust.Log()
			require.NoError(t, err)
			require.Equal(t, kept, now)
			require.NoError(t, a.Meet(t.Context(), ben.brief())) // pinned agents still work
		})
	}
}

// A server cannot fill the disk with evidence, whatever the folder of the key file is called.
func TestEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	folder := filepath.Join(t.TempDir(), "a[b")
	require.NoError(t, os.Mkdir(folder, 0o700))
	file := filepath.Join(folder, "agent.key")
	a := s.agentOf(file, ada, client.Checks{})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	for i := range 40 {
		require.NoError(t, os.WriteFile(file+".trust.fork."+strconv.Itoa(i), nil, 0o600))
	}
	before := must(os.ReadDir(folder))(t)
	s.begin(1, "log")
	s.register("carol")
	_, err := a.Find(t.Context(), "carol")
	require.ErrorIs(t, err, client.ErrLogForked)
	require.ErrorContains(t, err, "evidence from before is kept")
	after := must(os.ReadDir(folder))(t)
	require.Len(t, after, len(before))
}

// If programs check at the same time, the next head must continue all the heads that they keep.
func TestHeadsOfProgramsAtOnce(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada := s.register("ada")
	file := filepath.Join(t.TempDir(), "agent.key")
	people := make([]person, 20)
	for i := range people {
		people[i] = s.register("agent" + string(rune('a'+i)))
	}
	var running sync.WaitGroup
	met := make([]error, len(people))
	for i := range people {
		a := s.agentOf(file, ada, client.Checks{})
		running.Go(func() {
			s.fill(3)
			met[i] = a.Meet(t.Context(), people[i].brief())
		})
	}
	running.Wait()
	for _, err := range met {
		require.NoError(t, err)
	}
	a := s.agentOf(file, ada, client.Checks{})
	require.NoError(t, a.Meet(t.Context(), s.register("last").brief()))
	raw := must(os.ReadFile(file + ".trust"))(t)

	// A forked head that another program has kept is detected, too.
	fork := keylogtest.New(s.logs[1].Origin, keylogtest.Private("log"))
	fork.Append(keylog.ReceiptEntry(nil, "x"))
	head := fork.Head(-1)
	line, err := json.Marshal(map[string]any{"log": client.Head{
		Witnessed: keylog.Witnessed{Checkpoint: head, Note: string(fork.Checkpoint(-1))}, Vkey: fork.Key, Over: 3,
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+".trust", append(raw, append(line, '\n')...), 0o600))
	require.ErrorIs(t, a.Meet(t.Context(), s.register("later").brief()), client.ErrLogForked)
}

// announce publishes another key of a log. It returns the key and its entry, which the log does not have yet.
func (s *logServer) announce(l *keylogtest.Log) (vkey string, entry keylog.Entry) {
	vkey = keylogtest.New(l.Origin, keylogtest.Private("new")).Key
	s.published["vkeys"] = []string{vkey, l.Key}
	return vkey, must(keylog.KeyEntry(keylog.PurposeLog, publicKey("new")))(s.t)
}

func publicKey(name string) ed25519.PublicKey {
	return keylogtest.Private(name).Public().(ed25519.PublicKey)
}

// witness returns a witness and its vkey.
func (s *logServer) witness(name string) (note.Signer, string) {
	signer := must(keylog.NewWitnessSigner(name, keylogtest.Private(name), time.Now))(s.t)
	return signer, keylog.WitnessKey(name, publicKey(name))
}

// keptKey returns the vkey of the newest head that an agent keeps.
func (s *logServer) keptKey(a *client.Agent) string {
	head, _, err := a.Trust.Log()
	require.NoError(s.t, err)
	return head.Vkey
}

// A new key of the log is valid if the old key has signed a tree that includes it.
func TestTheLogsKeyIsRotated(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol, dora := s.register("ada"), s.register("ben"), s.register("carol"), s.register("dora")
	file := filepath.Join(t.TempDir(), "agent.key")
	a := s.agentOf(file, ada, client.Checks{LogKey: s.logs[1].Key})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	old := s.logs[1]
	vkey, entry := s.announce(old)
	s.fill(300)
	require.ErrorIs(t, a.Meet(t.Context(), carol.brief()), client.ErrLogForked)
	old.Append(entry)
	s.fill(300)
	twin := keylogtest.New(old.Origin, keylogtest.Private("new")) // the log as the new key signs it
	for _, of := range entriesOf(t, old) {
		twin.Append(of)
	}
	s.answerAt("/log/1/", func(w http.ResponseWriter, r *http.Request) { // checkpoints have both signatures
		body := recorded(old, r)
		both := string(bytes.TrimSuffix(bytes.SplitAfter(twin.Checkpoint(-1), []byte("\n\n"))[1], nil))
		if r.URL.Path == "/log/1/consistency" {
			var proof map[string]any
			_ = json.Unmarshal(body, &proof)
			proof["checkpoint"] = proof["checkpoint"].(string) + both
			_ = json.NewEncoder(w).Encode(proof)
			return
		}
		if !strings.Contains(r.URL.Path, "tile") {
			body = append(body, both...)
		}
		_, _ = w.Write(body)
	})
	require.NoError(t, a.Meet(t.Context(), carol.brief()))
	require.Equal(t, vkey, s.keptKey(a))
	require.Equal(t, vkey, twin.Key)
	// From then on, only the new key is valid.
	s.say(nil)
	s.logs[1] = twin
	s.published["vkeys"] = []string{vkey}
	require.NoError(t, s.agentOf(file, ada, client.Checks{LogKey: old.Key}).Meet(t.Context(), dora.brief()))
	s.logs[1] = old
	s.unsequenced("eve")
	require.ErrorIs(t, errOf(a.Find(t.Context(), "eve")), client.ErrUnproven)
}

// A given key may be newer than the kept one, if the log proves it.
func TestAGivenKeyMayFollowTheKeptOne(t *testing.T) {
	t.Parallel()
	for _, last := range []bool{false, true} { // the server may name it last, until the entry is in the log
		s := newLogServer(t)
		ada, ben, carol := s.register("ada"), s.register("ben"), s.register("carol")
		file := filepath.Join(t.TempDir(), "agent.key")
		require.NoError(t, s.agentOf(file, ada, client.Checks{}).Meet(t.Context(), ben.brief()))
		old := s.logs[1]
		vkey, entry := s.announce(old)
		if last {
			slices.Reverse(s.published["vkeys"].([]string))
		}
		other := keylogtest.New(old.Origin, keylogtest.Private("other")).Key
		for _, given := range []string{vkey, other} {
			require.ErrorIs(t, s.agentOf(file, ada, client.Checks{LogKey: given}).Meet(t.Context(), carol.brief()), client.ErrLogForked)
		}
		old.Append(entry)
		a := s.agentOf(file, ada, client.Checks{LogKey: vkey})
		_ = a.Meet(t.Context(), carol.brief()) // the old key alone signs here, so carol is not proven by the new one
		require.Equal(t, vkey, s.keptKey(a))
	}
}

func entriesOf(t *testing.T, l *keylogtest.Log) []keylog.Entry {
	t.Helper()
	var all []keylog.Entry
	for size := l.Head(-1).Size; int64(len(all)) < size; {
		n := int64(len(all)) / keylog.TileWidth
		all = append(all, must(keylog.ParseEntries(l.Tile(n, int(min(keylog.TileWidth, size-int64(len(all)))))))(t)...)
	}
	return all
}

// The server may publish a new key of its log shortly before the entry exists: that is no alarm.
func TestTheEntryOfANewKeyIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol := s.register("ada"), s.register("ben"), s.register("carol")
	a := s.agent(ada, client.Checks{Patience: keylogtest.Wait(30 * time.Second)})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	old := s.logs[1]
	vkey, entry := s.announce(old)
	looks := 0
	s.say(func(_ http.ResponseWriter, r *http.Request) bool {
		if looks++; strings.Contains(r.URL.Path, "tile") && looks > 4 {
			old.Append(entry)
			s.answer = nil
		}
		return false
	})
	_ = a.Meet(t.Context(), carol.brief()) // the old key alone signs here, so carol is not proven by the new one
	require.Equal(t, vkey, s.keptKey(a))
}

// A quorum of known witnesses must have signed.
func TestAQuorumOfWitnesses(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	var vkeys []string
	var signed [][]byte
	for _, name := range []string{"w1", "w2"} {
		signer, vkey := s.witness(name)
		vkeys = append(vkeys, vkey)
		signed = append(signed, s.logs[1].Checkpoint(-1, signer))
	}
	for _, row := range []struct {
		quorum int
		proven bool
	}{{0, true}, {1, true}, {2, false}} {
		s.answerAt("/log/1/proof/1", func(w http.ResponseWriter, _ *http.Request) {
			proof := s.logs[1].Proof(1, 2)
			proof.Checkpoint = signed[0]
			_, _ = w.Write([]byte(proof.Text()))
		})
		a := s.agent(ada, client.Checks{Witnesses: vkeys, Quorum: row.quorum})
		err := a.Meet(t.Context(), ben.brief())
		if !row.proven {
			require.ErrorIs(t, err, client.ErrUnproven)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, must(a.Verify(t.Context(), "ben", ""))(t).Witnesses)
	}
	for _, wrong := range []client.Checks{
		{Quorum: 1}, {Witnesses: []string{"x"}}, {Witnesses: []string{vkeys[0], vkeys[0]}, Quorum: 2}, {LogKey: vkeys[0]},
	} {
		require.Error(t, errOf(client.OpenAgent(filepath.Join(t.TempDir(), "x"), s.url, client.Options{Checks: wrong})))
	}
}

// If an agent requires a quorum, the last head with a quorum proves an entry, even if the log has grown since and the newest head
// continues it. The agent waits for proofs of later entries.
func TestAQuorumWhileTheLogGrows(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	signer, vkey := s.witness("w")
	checks := client.Checks{Witnesses: []string{vkey}, Quorum: 1}
	s.fill(300)
	s.logs[1].Witness(302, signer)
	s.fill(7)
	file := filepath.Join(t.TempDir(), "agent.key")
	a := s.agentOf(file, ada, checks)
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	head, _, err := a.Trust.Log()
	require.NoError(t, err)
	require.EqualValues(t, 302, head.Size)
	watched := must(a.WatchKey(t.Context()))(t)
	require.EqualValues(t, 302, watched.Size, "what witnesses have signed is read")
	require.Contains(t, watched.Witnesses, "w")
	head, _, err = a.Trust.Log()
	require.NoError(t, err)
	require.EqualValues(t, 309, head.Size, "the newest head is kept")

	carol := s.register("carol")
	require.ErrorIs(t, a.Meet(t.Context(), carol.brief()), client.ErrUnproven)
	s.logs[1].Witness(310, signer)
	s.fill(300)
	require.NoError(t, s.agentOf(file, ada, checks).Meet(t.Context(), carol.brief()))
	watched = must(a.WatchKey(t.Context()))(t)
	require.EqualValues(t, 310, watched.Size)
	require.EqualValues(t, 8, watched.Read)

	// Without the witnesses' lines nothing more is read, and nothing is forgotten.
	s.logs[1].Witness(310)
	_, err = a.WatchKey(t.Context())
	require.ErrorIs(t, err, client.ErrUnproven)
	require.False(t, client.Alarm(err))

	// If the log does not continue a head that witnesses have signed, it is a fork.
	fork := keylogtest.New(s.logs[1].Origin, keylogtest.Private("log"))
	for range 700 {
		fork.Append(keylog.ReceiptEntry([]byte("fork"), "x"))
	}
	fork.Witness(650, signer)
	honest := s.logs[1]
	s.answerAt("/log/1/proof/", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(recorded(fork, r)) })
	honest.Witness(0)
	s.fill(100)
	require.ErrorIs(t, errOf(a.WatchKey(t.Context())), client.ErrLogForked)
}
