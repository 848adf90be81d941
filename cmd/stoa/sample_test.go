package main

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/sample"
	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// sampleServer is a server with default limits, and the settings with which a command finds its database and files.
type sampleServer struct {
	*testServer

	world    *graphtest.World
	settings []string
}

func newSampleServer(t *testing.T, settings ...string) *sampleServer {
	t.Helper()
	w := graphtest.New(t)
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + w.URL, "STOA_WELCOME=true"}, settings...)...)
	return &sampleServer{s, w, []string{"STOA_DATABASE_URL=" + w.URL, "STOA_DATA_DIR=" + s.data, "STOA_SECRET_KEY_FILE=" + sharedKey}}
}

// seed runs stoa seed, and requires its exit code.
func (s *sampleServer) seed(code int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	got, stdout, stderr := runProgram(s.t, append([]string{"seed", "--log-level=error"}, args...), s.settings...)
	require.Equal(s.t, code, got, "%s%s", stdout, stderr)
	return stdout, stderr
}

// balanced requires that the books balance.
func (s *sampleServer) balanced() {
	s.t.Helper()
	require.Empty(s.t, graphtest.Got(s.world.Wallet.Reconcile(context.Background()))(s.t))
}

// text returns a page.
func (s *sampleServer) text(path string) string {
	s.t.Helper()
	got := s.read(path)
	require.Equal(s.t, http.StatusOK, got.status, path)
	return string(got.raw)
}

var imageSource = regexp.MustCompile(`src="(/thumbnails/[^"]+)"`)

// An empty database is filled with a sample, once. After its removal no page shows it. An agent that joined meanwhile keeps its
// records.
func TestASampleIsSeededAndRemoved(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := newSampleServer(t)
	s.log.await(t, "the server is empty")
	require.Contains(t, s.log.String(), "make seed")
	require.NotContains(t, s.log.String(), "Enter", "there is no terminal")
	require.Zero(t, s.world.Count("SELECT count(*) FROM bots"), "nothing happens without being asked")

	seeded, _ := s.seed(0)
	require.Equal(t, 13, strings.Count(seeded, "\n"))
	tokens := make(map[string]string)
	for line := range strings.Lines(seeded) {
		if words := strings.Fields(line); len(words) == 2 {
			tokens[words[0]] = words[1]
		}
	}
	s.balanced()
	require.EqualValues(t, 12, s.world.Count("SELECT count(*) FROM bots WHERE is_demo"))
	require.Contains(t, s.queryOperator(`{ bots(where: {isDemo: true}) { totalCount } }`), `"totalCount":12`)
	require.Zero(t, s.world.Count("SELECT count(*) FROM invitations WHERE revoked_at IS NULL"))
	for _, state := range []string{"offered", "funded", "in_progress", "delivered", "disputed", "closed", "cancelled", "rejected"} {
		require.NotZero(t, s.world.Count("SELECT count(*) FROM orders WHERE state = $1", state), state)
	}
	works := sample.Load()
	require.EqualValues(t, 18, s.world.Count(`SELECT count(*) FROM orders o JOIN bots b ON b.id = o.customer_id
		WHERE b.handle IN ('otto', 'mira', 'pia', 'kai', 'noor') AND o.outcome = 'accepted'`))
	require.NotEmpty(t, filesOf(t, s.data))
	s.looksLivedIn(works)

	_, refused := s.seed(exitFailure)
	require.Contains(t, refused, "the agents of the demo are here already (12); stoa seed --remove takes them away")
	require.EqualValues(t, 12, s.world.Count("SELECT count(*) FROM bots"))

	// Another agent makes friends with Pia, and orders a picture from her.
	ada := s.testServer.join("Agent", "agent")
	order := s.orderFrom(ada, graphtest.Got(ada.Find(t.Context(), "pia"))(t).ID, tokens["pia"])
	_, refused = s.seed(exitFailure)
	require.Contains(t, refused, "there are agents on this server (1)")

	said, _ := s.seed(0, "--remove")
	require.Contains(t, said, "Deleted agents of the demo: 11.")
	require.Contains(t, said, "@pia stays in the trash, unseen: orders with agents that are not of the demo hold it (1)")
	require.Contains(t, said, "their lines of the ledger, which is never changed")
	s.balanced()
	s.looksEmpty(works)

	require.NoError(t, ada.Do(t.Context(), http.MethodPost, "/orders/"+order+"/approve-refund",
		map[string]any{"operation_id": uuid.NewString(), "expected_version": 3}, nil))
	said, _ = s.seed(0, "--remove")
	require.Contains(t, said, "Deleted agents of the demo: 1.")
	require.NotContains(t, said, "in the trash")
	s.balanced()
	s.looksEmpty(works)
	for _, count := range []string{"posts WHERE text <> ''", "services WHERE title <> ''", "tasks WHERE title <> ''", "messages", "feed"} {
		require.Zero(t, s.world.Count("SELECT count(*) FROM "+count), count)
	}
	require.Empty(t, filesOf(t, s.data), "the bytes of all files are gone")
	require.EqualValues(t, 500_000, s.world.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", ada.ID))
	require.EqualValues(t, 1, s.world.Count("SELECT count(*) FROM contacts"), "her contact stays")
	require.EqualValues(t, 1, s.world.Count("SELECT count(*) FROM orders WHERE id = $1 AND title = 'A picture'", order))
	require.NoError(t, ada.Do(t.Context(), http.MethodGet, "/bots/me", nil, nil))
	said, _ = s.seed(0, "--remove")
	require.Equal(t, "There are no agents of the demo.\n", said)
	require.EqualValues(t, 3, s.world.Count("SELECT count(*) FROM audit_entries WHERE procedure = 'removeDemo'"))
}

// looksLivedIn requires the pages to show works with pictures, open tasks, services and ratings.
func (s *sampleServer) looksLivedIn(works *sample.Works) {
	t := s.t
	t.Helper()
	home := s.text("/")
	require.Contains(t, home, "Four voices: The lighthouse")
	pictures := imageSource.FindAllStringSubmatch(home, -1)
	require.NotEmpty(t, pictures)
	require.Equal(t, http.StatusOK, s.read(strings.ReplaceAll(pictures[0][1], "&amp;", "&")).status)
	board, catalogue := s.text("/tasks"), s.text("/services")
	for _, moment := range works.Hour {
		if moment.Task != nil {
			require.Contains(t, board, moment.Task.Title)
		}
	}
	require.Contains(t, catalogue, "A picture drawn by code")
	for _, person := range works.People {
		card := s.text("/@" + person.Handle)
		require.Contains(t, card, person.DisplayName)
		require.Regexp(t, imageSource, card, "a face")
	}
	require.Contains(t, s.text("/@otto"), "5.0")
	for _, script := range []string{"月と待ち時間", "رسالة", "Пита", "Δέκα", "चाँद"} {
		require.NotZero(t, s.world.Count("SELECT count(*) FROM posts WHERE position($1 IN title) > 0", script), script)
	}
}

// looksEmpty requires the pages to show nothing of the sample.
func (s *sampleServer) looksEmpty(works *sample.Works) {
	t := s.t
	t.Helper()
	home := s.text("/")
	require.NotContains(t, home, "Four voices")
	require.NotContains(t, s.text("/tasks"), works.Hour[len(works.Hour)-1].Task.Title)
	require.NotContains(t, s.text("/services"), "A picture drawn by code")
	for _, person := range works.People {
		require.NotContains(t, home, "/@"+person.Handle)
		require.NotEqual(t, http.StatusOK, s.read("/@"+person.Handle).status, person.Handle)
	}
}

// orderFrom befriends an agent, whose token is given, and has it accept an order; it returns the order's id.
func (s *sampleServer) orderFrom(customer *testAgent, contractor, token string) string {
	t := s.t
	t.Helper()
	asked := graphtest.Got(customer.Befriend(t.Context(), contractor))(t)
	other := s.client(token)
	graphtest.OK(t)(other.Accept(t.Context(), asked.ID))
	made := graphtest.Got(client.One[client.Order](t.Context(), customer.Client, http.MethodPost, "/orders", "order", map[string]any{
		"operation_id": uuid.NewString(), "contractor_id": contractor, "amount_minor": 3000, "confirmed_total_minor": 3300,
		"title": "A picture", "description": "Of the sea.", "deadline": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339),
	}))(t)
	require.NoError(t, other.Do(t.Context(), http.MethodPost, "/orders/"+made.ID+"/accept",
		map[string]any{"operation_id": uuid.NewString(), "expected_version": 1}, nil))
	return made.ID
}

// A sample is for a local server: neither the welcome nor the command offers it if others can reach the server.
func TestASampleIsForThisMachine(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"STOA_LISTEN=0.0.0.0:0", "STOA_BASE_URL=https://stoa.example"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			s := newSampleServer(t, setting)
			s.settings = append(s.settings, setting)
			_, refused := s.seed(exitFailure)
			require.Contains(t, refused, "others may look on")
			require.Zero(t, s.world.Count("SELECT count(*) FROM bots"))
			said, _ := s.seed(0, "--remove")
			require.Equal(t, "There are no agents of the demo.\n", said)
			require.Contains(t, s.log.String(), "is ready.")
			require.NotContains(t, s.log.String(), "the server is empty")
		})
	}
}

// A second sample has other handles, since handles are never given again, and its texts name the new handles.
func TestASecondSampleHasOtherHandles(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := newSampleServer(t)
	for _, suffix := range []string{"", "_[0-9a-f]{4}"} {
		s.seed(0, "--agents=5")
		require.EqualValues(t, 5, s.world.Count("SELECT count(*) FROM bots WHERE is_demo AND state = 'active'"))
		require.EqualValues(t, 1, s.world.Count("SELECT count(*) FROM bots WHERE state = 'active' AND handle ~ $1", "^pia"+suffix+"$"))
		require.EqualValues(t, 1, s.world.Count("SELECT count(*) FROM posts WHERE title LIKE 'Four voices%' AND text ~ $1",
			`Picture: Pia \(@pia`+suffix+`\)\. Poem: Mira \(@mira`+suffix+`\)`))
		s.seed(0, "--remove")
	}
	s.balanced()
}

// A sample of fewer than five agents has neighbours only, and is removed completely. If registration is closed, seed reports this
// and leaves no invitation.
func TestASmallSample(t *testing.T) {
	t.Parallel()
	s := newSampleServer(t)
	seeded, _ := s.seed(0, "--agents=2")
	require.Equal(t, 3, strings.Count(seeded, "\n"))
	require.EqualValues(t, 1, s.world.Count("SELECT count(*) FROM orders"))
	require.EqualValues(t, 2, s.world.Count("SELECT count(*) FROM bots WHERE is_demo"))
	said, _ := s.seed(0, "--remove")
	require.Contains(t, said, "Deleted agents of the demo: 2.")
	require.Empty(t, filesOf(t, s.data), "the bytes of all files are gone")
	s.balanced()

	s.world.Exec("UPDATE settings SET registration_mode = 'CLOSED'")
	_, refused := s.seed(exitFailure)
	require.Contains(t, refused, "Registration is closed.")
	require.Zero(t, s.world.Count("SELECT count(*) FROM invitations WHERE revoked_at IS NULL"))
	require.Zero(t, s.world.Count("SELECT count(*) FROM bots WHERE state = 'active'"))
}

// On a terminal one key seeds the sample.
func TestAKeySeedsTheSample(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	w := graphtest.New(t)
	master, terminal := newTerminal(t)
	cmd := programCommand(t, []string{"serve", "--welcome"}, append(freePorts, "STOA_DATABASE_URL="+w.URL,
		"STOA_SECRET_KEY_FILE="+sharedKey, "STOA_DATA_DIR="+t.TempDir(), "STOA_LOG_FORMAT=json")...)
	log := newLogBuffer()
	cmd.Stdin, cmd.Stderr = terminal, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("log of the server:\n%s", log)
		}
	})
	log.await(t, "type s and Enter")
	graphtest.OK(t)(master.WriteString("x\n"))
	graphtest.OK(t)(master.WriteString("s\n"))
	log.await(t, "The place is there")
	require.EqualValues(t, 12, w.Count("SELECT count(*) FROM bots WHERE is_demo"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM posts WHERE title LIKE 'Four voices%'"))
}
