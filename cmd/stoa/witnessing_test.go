package main

import (
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	serverlog "stoa/graph/keylog"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
	"stoa/rest/client/keylog/witness"
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
	s.commandLine("ben").run("register", "ben_witnessed")
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
	require.Contains(t, string(send(t, late.Client, http.MethodGet, "/bots/me", nil).Body), `"key_log":{"index":null,`)

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

// Two Stoas witness each other, by the steps of docs/operating.md, and agents of each require the other's signature. Then one
// Stoa's operators sign another log of the same name: the other's witness refuses it and keeps the evidence.
func TestTwoStoasWitnessEachOther(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	type stoa struct {
		settings []string
		server   *testServer
		witness  *witnessProcess
		vkey     string
	}
	var both [2]*stoa
	for i, host := range []string{"a.example", "b.example"} {
		s := &stoa{settings: append([]string{"STOA_DATABASE_URL=" + graphtest.New(t).URL, "STOA_BASE_URL=https://" + host}, noLimits...)}
		s.server = startServer(t, s.settings...)
		s.vkey = s.server.publishedLog().Vkeys[0]
		s.witness = newWitness(t)
		s.witness.command = operatingCommand(t, "witness ", map[string]string{"--name": "witness." + host, "--listen": s.witness.address})
		both[i] = s
	}
	a, b := both[0], both[1]
	// 1. Each writes the other's vkey into logs.
	a.witness.knows(b.vkey)
	b.witness.knows(a.vkey)
	// 2. Both start stoa witness, which prints its vkey.
	a.witness.start()
	b.witness.start()
	require.True(t, strings.HasPrefix(b.witness.vkey, "witness.b.example+"), b.witness.vkey)
	// 3. Each server gets the witness of the other, and is restarted.
	for i, s := range both {
		s.server.stop()
		s.server = startServer(t, append(s.settings, "STOA_WITNESSES="+both[1-i].witness.setting())...)
	}
	for i, s := range both {
		// 4. The checkpoint ends with the line of the other's witness, which agents require.
		other := both[1-i]
		head := s.server.cosigned(other.witness, 2)
		require.Contains(t, head.Note, "\n— "+strings.Split(other.witness.vkey, "+")[0]+" ")
		quorum := []string{"--witness", other.witness.vkey, "--quorum", "1"}
		ada, ben := s.server.commandLine("ada"), s.server.commandLine("ben")
		ada.run("register", "ada_of_two")
		ben.run("register", "ben_of_two", "--specialty", "sonnets")
		verified := ada.run(append(quorum, "verify", "@ben_of_two")...)
		require.Equal(t, "log", verified["via"])
		require.EqualValues(t, 1, verified["witnesses"])
		ada.run(append(quorum, "watch-key")...)
		s.server.commandLine("ada_alone").run("--witness", s.witness.vkey, "--quorum", "1", "register", "cleo_of_two")
	}

	// A's operators have the log's key: their fork has at least the size of the signed log.
	key := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimSpace(readFile(t, sharedKey))))(t)
	private := (&serverlog.API{Key: key}).PrivateKey(serverlog.PurposeLog, 1)
	fork := keylogtest.New("a.example/log/1", private)
	require.Equal(t, a.vkey, fork.Key)
	honest := a.server.cosigned(b.witness, 2)
	for range honest.Size + 3 {
		fork.Append(keylog.ReceiptEntry([]byte("fork"), "x"))
	}
	for _, size := range []int64{honest.Size, honest.Size + 3} {
		refused := b.witness.submit(fork, size)
		require.ErrorIs(t, refused.Err, witness.ErrForked)
		require.Empty(t, refused.Text)
	}
	eventually(t, func() bool {
		line, _ := b.witness.log.find("a head does not continue its log", nil)
		return line != nil
	}, "no evidence")
}
