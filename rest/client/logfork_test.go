package client_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// A log that was rewritten, has shrunk, or is signed by another key is refused, and both checkpoints are kept.
func TestAForkIsKeptAsEvidence(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(s *logServer, honest *keylogtest.Log){
		"rewritten": func(s *logServer, _ *keylogtest.Log) {
			s.fill(5) // of others: the same size, and other entries
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
		"a new vkey only": func(s *logServer, honest *keylogtest.Log) { announce(s, honest, "new"); s.register("carol") },
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
				_, err = a.Find(t.Context(), "carol")
				require.ErrorIs(t, err, client.ErrLogForked)
			}
			evidence, err := filepath.Glob(file + ".trust.fork.*")
			require.NoError(t, err)
			require.Len(t, evidence, 2)
			raw, err := os.ReadFile(evidence[0])
			require.NoError(t, err)
			require.Equal(t, kept.Checkpoint, string(raw))
			served, err := os.ReadFile(evidence[1])
			require.NoError(t, err)
			require.NotEmpty(t, served)
			if key := must(keylog.ParseLogKey(honest.Key)); slices.Contains([]string{"rewritten", "grown differently", "older"}, name) {
				_, err = keylog.Open(served, key) // the server has signed both
				require.NoError(t, err)
			}
			now, _, err := a.Trust.Log()
			require.NoError(t, err)
			require.Equal(t, kept, now)
			require.NoError(t, a.Meet(t.Context(), ben.brief())) // what is pinned goes on
		})
	}
}

// Programs that check at once keep heads that the next one must continue, all of them.
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
	raw, err := os.ReadFile(file + ".trust")
	require.NoError(t, err)

	// A head of a fork that another program has kept is noticed, too.
	fork := keylogtest.New(s.logs[1].Origin, logPrivate("log"))
	fork.Append(keylog.ReceiptEntry(nil, "x"))
	head := fork.Head(-1)
	line, err := json.Marshal(map[string]any{"log": client.Head{
		Origin: head.Origin, Vkey: fork.Key, Size: head.Size, Root: head.Root[:], Checkpoint: string(fork.Checkpoint(-1)), Over: 3,
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+".trust", append(raw, append(line, '\n')...), 0o600))
	require.ErrorIs(t, a.Meet(t.Context(), s.register("later").brief()), client.ErrLogForked)
}
