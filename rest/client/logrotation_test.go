package client_test

import (
	"bytes"
	"encoding/json"
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

// announce publishes another key of a log.
func announce(s *logServer, l *keylogtest.Log, key string) string {
	vkey := keylogtest.New(l.Origin, logPrivate(key)).Key
	s.published["vkeys"] = []string{vkey, l.Key}
	return vkey
}

// A new key of the log counts if the old key has signed a tree that has it.
func TestTheLogsKeyIsRotated(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol, dora := s.register("ada"), s.register("ben"), s.register("carol"), s.register("dora")
	file := filepath.Join(t.TempDir(), "agent.key")
	a := s.agentOf(file, ada, client.Checks{LogKey: s.logs[1].Key})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	old := s.logs[1]
	vkey := announce(s, old, "new")
	entry, err := keylog.KeyEntry(keylog.PurposeLog, keylog.Public(must(keylog.ParseLogKey(vkey))))
	require.NoError(t, err)
	s.fill(300)
	require.ErrorIs(t, a.Meet(t.Context(), carol.brief()), client.ErrLogForked)
	old.Append(entry)
	s.fill(300)
	twin := keylogtest.New(old.Origin, logPrivate("new")) // the log as the new key signs it
	for _, of := range entriesOf(old) {
		twin.Append(of)
	}
	s.say(func(w http.ResponseWriter, r *http.Request) bool { // checkpoints have both signatures
		if !strings.HasPrefix(r.URL.Path, "/log/1/") {
			return false
		}
		body := recorded(old, r)
		both := string(bytes.TrimSuffix(bytes.SplitAfter(twin.Checkpoint(-1), []byte("\n\n"))[1], nil))
		if r.URL.Path == "/log/1/consistency" {
			var proof map[string]any
			_ = json.Unmarshal(body, &proof)
			proof["checkpoint"] = proof["checkpoint"].(string) + both
			_ = json.NewEncoder(w).Encode(proof)
			return true
		}
		if !strings.Contains(r.URL.Path, "tile") {
			body = append(body, both...)
		}
		_, _ = w.Write(body)
		return true
	})
	require.NoError(t, a.Meet(t.Context(), carol.brief()))
	head, _, err := a.Trust.Log()
	require.NoError(t, err)
	require.Equal(t, vkey, head.Vkey)
	require.Equal(t, vkey, twin.Key)
	// From then on the new key alone counts.
	s.say(nil)
	s.logs[1] = twin
	s.published["vkeys"] = []string{vkey}
	require.NoError(t, s.agentOf(file, ada, client.Checks{LogKey: old.Key}).Meet(t.Context(), dora.brief()))
	s.logs[1] = old
	s.unsequenced("eve")
	_, err = a.Find(t.Context(), "eve")
	require.ErrorIs(t, err, client.ErrUnproven)
}

func entriesOf(l *keylogtest.Log) []keylog.Entry {
	var all []keylog.Entry
	for size := l.Head(-1).Size; int64(len(all)) < size; {
		n := int64(len(all)) / keylog.TileWidth
		all = append(all, must(keylog.ParseEntries(l.Tile(n, int(min(keylog.TileWidth, size-int64(len(all)))))))...)
	}
	return all
}

// The server may publish a new key of its log a moment before the entry is there: that is no alarm.
func TestTheEntryOfANewKeyIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol := s.register("ada"), s.register("ben"), s.register("carol")
	a := s.agent(ada, client.Checks{Patience: 5 * time.Minute})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	old := s.logs[1]
	vkey := announce(s, old, "new")
	entry, err := keylog.KeyEntry(keylog.PurposeLog, keylog.Public(must(keylog.ParseLogKey(vkey))))
	require.NoError(t, err)
	looks := 0
	s.say(func(_ http.ResponseWriter, r *http.Request) bool {
		if looks++; strings.Contains(r.URL.Path, "tile") && looks > 4 {
			old.Append(entry)
			s.answer = nil
		}
		return false
	})
	_ = a.Meet(t.Context(), carol.brief()) // the old key alone signs here, so carol is not proven by the new one
	head, _, err := a.Trust.Log()
	require.NoError(t, err)
	require.Equal(t, vkey, head.Vkey)
}
