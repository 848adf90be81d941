package client_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// A quorum of known witnesses must have signed.
func TestAQuorumOfWitnesses(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	var vkeys []string
	var signed [][]byte
	for _, name := range []string{"w1", "w2"} {
		signer, err := keylog.NewWitnessSigner(name, logPrivate(name), time.Now)
		require.NoError(t, err)
		vkeys = append(vkeys, keylog.WitnessKey(name, keylog.Public(must(keylog.ParseLogKey(keylogtest.New(name, logPrivate(name)).Key)))))
		signed = append(signed, s.logs[1].Checkpoint(-1, signer))
	}
	for _, row := range []struct {
		quorum int
		proven bool
	}{{0, true}, {1, true}, {2, false}} {
		s.say(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/log/1/proof/1" {
				return false
			}
			proof := s.logs[1].Proof(1, 2)
			proof.Checkpoint = signed[0]
			_, _ = w.Write([]byte(proof.Text()))
			return true
		})
		a := s.agent(ada, client.Checks{Witnesses: vkeys, Quorum: row.quorum})
		err := a.Meet(t.Context(), ben.brief())
		if !row.proven {
			require.ErrorIs(t, err, client.ErrUnproven)
			continue
		}
		require.NoError(t, err)
		verified, err := a.Verify(t.Context(), "ben", "")
		require.NoError(t, err)
		require.Equal(t, 1, verified.Witnesses)
	}
	for _, wrong := range []client.Checks{
		{Quorum: 1}, {Witnesses: []string{"x"}}, {Witnesses: []string{vkeys[0], vkeys[0]}, Quorum: 2}, {LogKey: vkeys[0]},
	} {
		_, err := client.OpenAgent(filepath.Join(t.TempDir(), "x"), s.url, client.Options{Checks: wrong})
		require.Error(t, err)
	}
}

// An agent that demands a quorum has an entry proven by the last head that its witnesses have signed, though the log has grown since, and
// the newest head continues it; entries after that are waited for.
func TestAQuorumWhileTheLogGrows(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	signer, err := keylog.NewWitnessSigner("w", logPrivate("w"), time.Now)
	require.NoError(t, err)
	checks := client.Checks{
		Witnesses: []string{keylog.WitnessKey("w", keylog.Public(must(keylog.ParseLogKey(keylogtest.New("w", logPrivate("w")).Key))))}, Quorum: 1,
	}
	s.fill(300)
	s.logs[1].Witness(302, signer)
	s.fill(7)
	file := filepath.Join(t.TempDir(), "agent.key")
	a := s.agentOf(file, ada, checks)
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	head, _, err := a.Trust.Log()
	require.NoError(t, err)
	require.EqualValues(t, 302, head.Size)
	watched, err := a.WatchKey(t.Context())
	require.NoError(t, err)
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
	watched, err = a.WatchKey(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 310, watched.Size)
	require.EqualValues(t, 8, watched.Read)

	// Without the lines nothing more is read, and nothing is forgotten.
	s.logs[1].Witness(310)
	_, err = a.WatchKey(t.Context())
	require.ErrorIs(t, err, client.ErrUnproven)
	require.False(t, client.Alarm(err))

	// A head that witnesses have signed, but which the log does not continue, is a fork.
	fork := keylogtest.New(s.logs[1].Origin, logPrivate("log"))
	for range 700 {
		fork.Append(keylog.ReceiptEntry([]byte("fork"), "x"))
	}
	fork.Witness(650, signer)
	honest := s.logs[1]
	s.say(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/log/1/proof/") {
			return false
		}
		_, _ = w.Write(recorded(fork, r))
		return true
	})
	honest.Witness(0)
	s.fill(100)
	_, err = a.WatchKey(t.Context())
	require.ErrorIs(t, err, client.ErrLogForked)
}
