package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// cosigned waits until a server's checkpoint has at least the size least and the line of a witness, and returns it.
func (s *testServer) cosigned(w *witnessProcess, least int64) (head keylog.Witnessed) {
	s.t.Helper()
	known := graphtest.Got(keylog.ParseWitnessKey(w.vkey))(s.t)
	eventually(s.t, func() bool {
		got := s.get("/log/1/checkpoint")
		if got.status != http.StatusOK {
			return false
		}
		log := graphtest.Got(keylog.ParseLogKey(s.publishedLog().Vkeys[0]))(s.t)
		head = graphtest.Got(keylog.Open(got.raw, log, known))(s.t)
		return head.Size >= least && len(head.By) == 1
	}, "the witness does not sign")
	return head
}

// A server starts without its witness, and submits its head once the witness is back, even if the log has not grown meanwhile.
func TestAWitnessThatIsAway(t *testing.T) {
	t.Parallel()
	database := graphtest.New(t)
	settings := append([]string{"STOA_DATABASE_URL=" + database.URL}, noLimits...)
	first := startServer(t, settings...)
	require.Empty(t, first.publishedLog().Witnesses)
	w := newWitness(t, first.publishedLog().Vkeys[0])
	w.start()
	w.stop()
	first.stop()

	s := startServer(t, append(settings, "STOA_WITNESSES="+w.setting())...)
	s.waitForLog("the key log was not compared with the heads of all its witnesses, or lacks one", "level", "WARN")
	require.Equal(t, []string{w.vkey}, s.publishedLog().Witnesses)
	s.commandLine("ada").run("register", "ada_unwitnessed")
	s.waitForLog("witnesses did not sign the key log")
	w.start()
	head := s.cosigned(w, 3)
	quorum := []string{"--witness", w.vkey, "--quorum", "1"}
	ben := s.commandLine("ben")
	ben.run(append(quorum, "register", "ben_witnessed")...)
	ben.run(append(quorum, "watch-key")...)
	verified := ben.run(append(quorum, "verify", "@ada_unwitnessed")...)
	require.Equal(t, []any{"log", 1.0}, []any{verified["via"], verified["witnesses"]})
	s.cosigned(w, head.Size+1)
	require.True(t, s.hasMetric("stoa_log_behind 0"))
	require.Zero(t, database.Count("SELECT count(*) FROM river_job WHERE kind IN ('log', 'cosign') AND state = 'discarded'"),
		"a witness that is away is no failure of a job")
}

// If an older backup replaces the database, the server detects this by the head that a witness has signed, even without any
// record on the machine. It signs nothing until the operator begins a new epoch, which names the lost entries.
func TestAWitnessShowsThatEntriesWereLost(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	database := graphtest.New(t)
	settings := append([]string{"STOA_DATABASE_URL=" + database.URL, "STOA_BASE_URL=https://stoa.example"}, noLimits...)
	s := startServer(t, settings...)
	w := newWitness(t, s.publishedLog().Vkeys[0])
	w.start()
	s.stop()
	settings = append(settings, "STOA_WITNESSES="+w.setting())
	s = startServer(t, settings...)
	for range 4 {
		s.join("Agent", "agent")
	}
	s.cosigned(w, 6)
	s.stop()

	loseEntries(t, database, 2)
	s = startServer(t, settings...) // with another data folder, as on another machine
	s.waitForLog("the key log was not compared with the heads of all its witnesses, or lacks one", "level", "ERROR")
	require.Equal(t, http.StatusServiceUnavailable, s.get("/log/1/checkpoint").status)
	require.True(t, s.hasMetric("stoa_log_behind 1"))
	late := s.join("Agent", "agent")
	require.Contains(t, string(get(t, late.Client, "/bots/me").Body), `"key_log":{"index":null,`)

	out := output(t, []string{"log", "new-epoch", "--reason", "the database was restored"},
		"STOA_DATABASE_URL="+database.URL, "STOA_DATA_DIR="+s.data)
	require.Contains(t, out, "goes on as stoa.example/log/2, with 5 entries.")
	eventually(t, func() bool { return s.get("/log/2/checkpoint").status == http.StatusOK }, "nothing is signed")
	eventually(t, func() bool { return s.hasMetric("stoa_log_behind 0") }, "it is still behind")
	require.Contains(t, s.publishedLog().Epochs[0].Reason, "stoa.example/log/1 was signed with 6 entries, and 4 are left")
}

// loseEntries removes the last entries from the log, as a restore of an older backup without stoa backup restore does.
func loseEntries(t testing.TB, w *graphtest.World, entries int64) {
	t.Helper()
	w.Exec("ALTER TABLE log_leaves DISABLE TRIGGER log_leaves_append_only")
	w.Exec("DELETE FROM log_openings WHERE index >= (SELECT size FROM log_head) - $1", entries)
	w.Exec("DELETE FROM log_leaves WHERE index >= (SELECT size FROM log_head) - $1", entries)
	w.Exec("ALTER TABLE log_leaves ENABLE TRIGGER log_leaves_append_only")
	left := keylogtest.New("stoa.example/log/1", make([]byte, 64))
	for _, raw := range graphtest.Column[[]byte](w, "SELECT entry FROM log_leaves ORDER BY index") {
		left.Append(graphtest.Got(keylog.ParseEntry(raw))(t))
	}
	head := left.Head(-1)
	w.Exec("UPDATE log_head SET size = $1, root = $2", head.Size, head.Root[:])
}

// operatingCommand returns the command of docs/operating.md that begins with begin, with other values for flags.
func operatingCommand(t testing.TB, begin string, flags map[string]string) []string {
	t.Helper()
	for line := range strings.Lines(string(graphtest.Got(os.ReadFile("../../docs/operating.md"))(t))) {
		command, found := strings.CutPrefix(strings.TrimSpace(line), "stoa ")
		if !found || !strings.HasPrefix(command, begin) {
			continue
		}
		args := strings.Fields(command)
		for flag, value := range flags {
			at := slices.Index(args, flag)
			require.Positive(t, at, flag)
			args[at+1] = value
		}
		return args
	}
	t.Fatalf("docs/operating.md has no command stoa %s", begin)
	return nil
}
