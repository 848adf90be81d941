package client_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

func (s *logServer) monitor(file string) *client.KeyLog {
	s.t.Helper()
	l := must(client.OpenKeyLog(file, s.url, client.Options{Retries: -1, Checks: client.Checks{Patience: time.Millisecond}}))(s.t)
	return l
}

// A server with the log's key can deceive a sender with a second entry for a handle; the agent's own watch and any monitor detect
// it.
func TestASecondEntryIsNoticed(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	s.fill(300)
	watching, file := s.agent(ben, client.Checks{}), filepath.Join(t.TempDir(), "monitor")
	watched := must(watching.WatchKey(t.Context()))(t)
	require.EqualValues(t, 1, *watched.Index)
	require.EqualValues(t, 302, watched.Size)
	require.EqualValues(t, 302, watched.Read)
	require.Equal(t, 2, watched.Agents)
	require.Equal(t, 2, must(s.monitor(file).Audit(t.Context()))(t).Agents)

	true1 := ben.card["key_log"]
	eve := must(client.NewKeys())(t)
	s.enter(ben, eve.Public())
	ben.card["encryption_public_key"] = eve.Public()
	lied := ben
	lied.keys = eve
	a := s.agent(ada, client.Checks{})
	_, _, err := a.SendMessage(t.Context(), lied.brief(), "hello", "")
	require.NoError(t, err)
	s.asked()
	for range 2 { // it is detected each time
		_, err = watching.WatchKey(t.Context())
		require.ErrorIs(t, err, client.ErrLabelTwice)
		require.True(t, client.Alarm(err))
		require.ErrorContains(t, err, "entries 1 and 302")
		require.ErrorIs(t, errOf(s.monitor(file).Audit(t.Context())), client.ErrLabelTwice)
	}
	for _, request := range s.asked() {
		require.NotContains(t, request, "tile/entries/000", "what was read before is not read again")
	}
	// A program that starts to watch now also detects it, whatever the server tells the agent itself.
	ben.card["key_log"], ben.card["encryption_public_key"] = true1, ben.keys.Public()
	require.ErrorIs(t, errOf(s.agent(ben, client.Checks{}).WatchKey(t.Context())), client.ErrLabelTwice)
}

// The only entry of the agent's handle must have the agent's key.
func TestTheOwnEntryIsOfTheOwnKey(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben, carol := s.register("ada"), s.unsequenced("ben"), s.unsequenced("carol")
	s.enter(ben, must(client.NewKeys())(t).Public())
	named := ben.card["key_log"].(map[string]any)
	watching := s.agent(ben, client.Checks{})
	for name, lie := range map[string]any{
		"the false one":    named,
		"none":             nil,
		"no index":         map[string]any{"index": nil, "salt": nil},
		"another's":        ada.card["key_log"],
		"one that is none": map[string]any{"index": 70, "salt": named["salt"]},
	} {
		ben.card["key_log"] = lie
		_, err := watching.WatchKey(t.Context())
		require.ErrorIs(t, err, client.ErrOwnKey, name)
		require.True(t, client.Alarm(err))
	}
	// Without an entry the key is not proven, and no agent can have been deceived.
	_, err := s.agent(carol, client.Checks{}).WatchKey(t.Context())
	require.ErrorIs(t, err, client.ErrUnproven)
	require.False(t, client.Alarm(err))
	carol.card["key_log"] = ada.card["key_log"]
	require.ErrorIs(t, errOf(s.agent(carol, client.Checks{}).WatchKey(t.Context())), client.ErrOwnKey)
	ok(t)(s.agent(ada, client.Checks{}).WatchKey(t.Context()))
}

// The salt of an agent that is being erased is gone while its orders keep it: that is no alarm.
func TestAnErasedSaltIsNoAlarm(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada := s.register("ada")
	ada.card["key_log"] = map[string]any{"index": nil, "salt": nil}
	for state, alarm := range map[string]bool{"pending": true, "partial": false} {
		s.answerAt("/bots/me/onboarding", func(w http.ResponseWriter, _ *http.Request) {
			s.reply(w, http.StatusOK, "lifecycle", map[string]any{"erasure": map[string]any{"state": state, "requested_by": "owner"}})
		})
		_, err := s.agent(ada, client.Checks{}).WatchKey(t.Context())
		require.Equal(t, alarm, client.Alarm(err), "%s: %v", state, err)
		if !alarm {
			require.ErrorContains(t, err, "the owner asked for the erasure")
		}
	}
}

// Audits in one or several programs read each entry once, and find a duplicate label.
func TestAuditsGoOn(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		l := s.begin(1, "log")
		file := filepath.Join(folder, uuid.NewString())
		twice := false
		labels := make(map[string]bool)
		for range rapid.IntRange(1, 60).Draw(rt, "rounds") {
			before := l.Head(-1).Size
			for range rapid.SampledFrom([]int{0, 1, 2, 3, 255, 256, 257}).Draw(rt, "more") {
				handle := uuid.NewString()
				if rapid.IntRange(0, 4000).Draw(rt, "handle") == 0 {
					handle = "again"
				}
				twice = twice || labels[handle]
				labels[handle] = true
				l.Append(keylog.Agent{Handle: handle}.Entry(logHost, nil))
			}
			audited, err := s.monitor(file).Audit(t.Context())
			if twice {
				require.ErrorIs(rt, err, client.ErrLabelTwice)
				return
			}
			require.NoError(rt, err)
			require.Equal(rt, l.Head(-1).Size-before, audited.Read)
			require.Equal(rt, len(labels), audited.Agents)
		}
	})
}

// seenFile is the file of the entries that audits have read.
func seenFile(file string, l *keylogtest.Log) string {
	return filepath.Join(file+".watch", url.PathEscape(l.Origin))
}

// Entries that a crash has cut off an audit's file are read again; entries that the log does not have are detected.
func TestTheFileOfAnAudit(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	s.fill(300)
	file := filepath.Join(t.TempDir(), "monitor")
	path := seenFile(file, s.logs[1])
	var whole []byte
	for _, kept := range []int64{300, 299, 1, 0} {
		ok(t)(s.monitor(file).Audit(t.Context()))
		whole = must(os.ReadFile(path))(t)
		whole = whole[:300*keylog.EntrySize] // later bytes are ignored
		require.NoError(t, os.WriteFile(path, append(whole[:kept*keylog.EntrySize:kept*keylog.EntrySize], 1, 2, 3), 0o600))
		require.NoError(t, os.WriteFile(path+".size", strconv.AppendInt(nil, kept, 10), 0o600)) // it follows the entries
		require.Equal(t, 300-kept, must(s.monitor(file).Audit(t.Context()))(t).Read)
	}
	require.NoError(t, os.WriteFile(path, whole[:299*keylog.EntrySize+64], 0o600))
	require.ErrorContains(t, errOf(s.monitor(file).Audit(t.Context())), "delete both")
	whole[70]++
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.ErrorIs(t, errOf(s.monitor(file).Audit(t.Context())), client.ErrLogForked)
}

// Entries that do not match the signed head are refused, and so is a log that has shrunk, even without a trust file.
func TestFalseTiles(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	s.fill(5)
	file := filepath.Join(t.TempDir(), "monitor")
	other := keylogtest.New(s.logs[1].Origin, keylogtest.Private("log"))
	for range 5 {
		other.Append(keylog.ReceiptEntry([]byte(uuid.NewString()), "y"))
	}
	s.answerAt("tile", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(other.Tile(0, 5)) })
	require.ErrorIs(t, errOf(s.monitor(file).Audit(t.Context())), client.ErrLogForked)
	s.answerAt("tile", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(s.logs[1].Tile(0, 4)) })
	require.ErrorContains(t, errOf(s.monitor(file).Audit(t.Context())), "4 entries")
	s.say(nil)
	ok(t)(s.monitor(file).Audit(t.Context()))
	require.NoError(t, os.Remove(file))
	s.begin(1, "log").Append(keylog.ReceiptEntry(nil, "z"))
	require.ErrorIs(t, errOf(s.monitor(file).Audit(t.Context())), client.ErrLogForked)
}

// restored makes a server restart its log, with the first entries of the former log and new ones.
func (s *logServer) restored(size int64, more ...keylog.Entry) *keylogtest.Log {
	former := s.logs[1]
	all := entriesOf(s.t, former)
	head := former.Head(size)
	l := s.begin(2, "log")
	l.Append(keylog.EpochEntry(former.Origin, head.Root))
	for _, entry := range append(all[:size], more...) {
		l.Append(entry)
	}
	s.published["epochs"] = []any{map[string]any{
		"origin": former.Origin, "size": head.Size, "root": head.Root[:], "reason": "restored", "ended_at": "2026-11-26T10:00:00Z",
	}}
	delete(s.logs, 1)
	return l
}

// again begins the restarted log anew with other entries.
func (s *logServer) again(key string, entries ...keylog.Entry) {
	epochs := s.published["epochs"]
	l := s.begin(2, key)
	s.published["epochs"] = epochs
	for _, entry := range entries {
		l.Append(entry)
	}
}

// A restarted log stops first contacts until a person accepts it; pinned agents still work. It must follow the former log.
func TestANewEpochIsAccepted(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		left int64 // of 303 entries
		lie  func(s *logServer, entries []keylog.Entry)
	}{
		"nothing lost": {303, nil},
		"some lost":    {200, nil},
		"not the same entries": {303, func(s *logServer, _ []keylog.Entry) {
			former := logHost + "/log/1"
			s.published["epochs"] = []any{map[string]any{"origin": former, "size": 303, "root": make([]byte, 32)}}
			others := slices.Repeat([]keylog.Entry{keylog.ReceiptEntry(nil, "x")}, 303)
			s.again("log", append([]keylog.Entry{keylog.EpochEntry(former, [32]byte{})}, others...)...)
		}},
		"no first entry": {303, func(s *logServer, entries []keylog.Entry) { s.again("log", append(entries[1:], entries[1])...) }},
		"cut off":        {303, func(s *logServer, entries []keylog.Entry) { s.again("log", entries[:250]...) }},
		"no end":         {303, func(s *logServer, _ []keylog.Entry) { s.published["epochs"] = []any{} }},
		"another key":    {303, func(s *logServer, entries []keylog.Entry) { s.again("eve", entries...) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLogServer(t)
			ada, ben := s.register("ada"), s.register("ben")
			s.fill(301)
			file := filepath.Join(t.TempDir(), "agent.key")
			a := s.agentOf(file, ada, client.Checks{})
			ok(t)(a.WatchKey(t.Context()))
			require.NoError(t, a.Meet(t.Context(), ben.brief()))
			require.ErrorContains(t, errOf(a.Log.AcceptEpoch(t.Context(), "")), "nothing to accept")
			carol := s.unsequenced("carol")
			salt := make([]byte, keylog.SaltSize)
			entry := keylog.Agent{ID: carol.id(), Handle: "carol", Key: carol.keys.Public(), CreatedAt: carol.card["created_at"].(string)}
			l := s.restored(row.left, entry.Entry(logHost, salt))
			carol.card["key_log"] = map[string]any{"index": row.left + 1, "salt": salt}
			own := ada.card["key_log"].(map[string]any)
			ada.card["key_log"] = map[string]any{"index": 1, "salt": own["salt"]} // the entry of the epoch is before it
			if row.lie != nil {
				row.lie(s, entriesOf(t, l))
			}
			for range 2 {
				require.ErrorIs(t, a.Meet(t.Context(), carol.brief()), client.ErrEpoch)
				_, err := a.WatchKey(t.Context())
				require.ErrorIs(t, err, client.ErrEpoch)
				require.False(t, client.Alarm(err))
			}
			require.NoError(t, a.Meet(t.Context(), ben.brief()))
			accepted, err := a.Log.AcceptEpoch(t.Context(), "")
			if row.lie != nil {
				require.ErrorIs(t, err, client.ErrLogForked)
				require.ErrorIs(t, a.Meet(t.Context(), carol.brief()), client.ErrEpoch)
				return
			}
			require.NoError(t, err)
			require.EqualValues(t, 303, accepted.Kept)
			require.Equal(t, row.left, accepted.Left)
			require.Equal(t, "restored", accepted.Reason)
			a = s.agentOf(file, ada, client.Checks{})
			require.NoError(t, a.Meet(t.Context(), carol.brief()))
			require.Equal(t, client.ViaLog, pinOf(t, a, carol).Via)
			ok(t)(a.WatchKey(t.Context()))
			require.Equal(t, client.ViaLog, pinOf(t, a, ben).Via)
		})
	}
}

// A lost key can be replaced only by hand.
func TestALostKeyOfTheLog(t *testing.T) {
	t.Parallel()
	s := newLogServer(t)
	ada, ben := s.register("ada"), s.register("ben")
	a := s.agent(ada, client.Checks{})
	require.NoError(t, a.Meet(t.Context(), ben.brief()))
	former := entriesOf(t, s.logs[1])
	l := s.begin(1, "new")
	for _, entry := range former {
		l.Append(entry)
	}
	carol := s.register("carol")
	require.ErrorIs(t, a.Meet(t.Context(), carol.brief()), client.ErrLogForked)
	require.ErrorContains(t, errOf(a.Log.AcceptEpoch(t.Context(), "")), "nothing to accept")
	require.Equal(t, l.Key, must(a.Log.AcceptEpoch(t.Context(), l.Key))(t).Vkey)
	require.NoError(t, a.Meet(t.Context(), carol.brief()))
	_, err := a.Log.AcceptEpoch(t.Context(), s.begin(1, "third").Key)
	require.ErrorIs(t, err, client.ErrLogForked) // it does not continue the kept head
}
