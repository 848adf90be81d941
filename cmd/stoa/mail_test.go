package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
)

func TestMailTest(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stdout := succeeds(t)(runInProcess("mail", "test", "Ada@Example.org", "--data-dir="+data, "--smtp-url=file:mails",
		"--mail-from=stoa@stoa.example"))
	require.Contains(t, stdout, "Sending a test mail to Ada@example.org over file:"+filepath.Join(data, "mails"))
	require.Contains(t, stdout, "Accepted: written to ")
	require.Equal(t, "Test mail from Stoa", readMail(t, data).Subject)

	dead := graphtest.Got(net.Listen("tcp", "127.0.0.1:0"))(t)
	require.NoError(t, dead.Close())
	fails(t, exitFailure, "the mail was not accepted: ", "connection refused")(
		runInProcess("mail", "test", "ada@example.org", "--smtp-url=smtp://"+dead.Addr().String(), "--mail-from=stoa@stoa.example"))
}

// A server with mail lets operators switch on features that need mail, sends waiting mails, and shows them without the address.
func TestServerSendsMail(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	w.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, claimed_until)
		VALUES (gen_random_uuid(), now(), 'test', 'ada@example.org', 'a***@example.org', now())`)
	s := startServer(t, append(fileMails, "STOA_DATABASE_URL="+w.URL, "STOA_SECRET_KEY_FILE=")...)
	require.FileExists(t, filepath.Join(s.data, secretKeyFile))
	readMail(t, s.data)
	eventually(t, func() bool { return s.hasMetric(`stoa_mail_attempts_total{outcome="sent"} 1`) }, "the mail is not counted")
	eventually(t, func() bool { return s.hasMetric("stoa_mails_waiting 0") }, "the mail still waits")
	shown := s.queryOperator("{mails{edges{node{kind addressHint sentAt attempts}}}}")
	require.Contains(t, shown, "a***@example.org")
	require.NotContains(t, shown, "ada@")
	require.Contains(t, s.queryOperator(`mutation{activateLifecycle(reason:"because"){lifecycleActivatedAt}}`), "lifecycleActivatedAt")
}

// mailServer counts the accepted messages by Message-ID. It is also the session of every client.
type mailServer struct {
	mu       sync.Mutex
	accepted map[string]int
}

func (s *mailServer) NewSession(*smtp.Conn) (smtp.Session, error) { return s, nil }
func (s *mailServer) Reset()                                      {}
func (s *mailServer) Logout() error                               { return nil }
func (s *mailServer) Mail(string, *smtp.MailOptions) error        { return nil }
func (s *mailServer) Rcpt(string, *smtp.RcptOptions) error        { return nil }

func (s *mailServer) Data(from io.Reader) error {
	message, err := mail.ReadMessage(from)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, message.Body); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted[message.Header.Get("Message-ID")]++
	return nil
}

func (s *mailServer) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.accepted)
}

// A server that is killed while it sends mails loses none: mails in transit may be sent twice, under the same Message-ID.
func TestKilledServerLosesNoMail(t *testing.T) {
	t.Parallel()
	const mails, workers = 80, 4
	sink := &mailServer{accepted: make(map[string]int)}
	listener := graphtest.Got(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := smtp.NewServer(sink)
	server.ErrorLog = log.New(io.Discard, "", 0)
	go func() { _ = server.Serve(listener) }() // it ends with Close
	t.Cleanup(func() { _ = server.Close() })

	w := graphtest.New(t)
	w.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, claimed_until)
		SELECT gen_random_uuid(), now(), 'test', 'ada@example.org', 'a***@example.org', now() FROM generate_series(1, $1)`, mails)
	settings := append(fileMails, "STOA_DATABASE_URL="+w.URL, "STOA_SMTP_URL=smtp://"+listener.Addr().String())
	first := startServer(t, settings...)
	require.Eventually(t, func() bool { return len(sink.counts()) >= mails/10 }, slack.TestWait, time.Millisecond)
	first.kill(w)
	t.Logf("killed after %d mails", len(sink.counts()))
	startServer(t, settings...)
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM mails WHERE sent_at IS NULL") == 0 }, "mails are not sent")
	counts := sink.counts()
	require.Len(t, counts, mails)
	repeated := 0
	for id, n := range counts {
		require.LessOrEqual(t, n, 2, id)
		repeated += n - 1
	}
	require.LessOrEqual(t, repeated, workers, fmt.Sprint(counts))
}

// The whole life of an agent and its owner, from outside: pages, mails, gate, linking, rewards, restoring.
func TestOwnerDemo(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	w := graphtest.New(t)
	s := startServer(t, append(fileMails, "STOA_DATABASE_URL="+w.URL)...)
	asOperator := []string{"STOA_DATA_DIR=" + s.data}
	story := output(t, []string{"demo", "--owner", "--url", s.url, "--operator-address", s.operator}, asOperator...)
	require.Contains(t, story, "All checks passed.")
	require.Zero(t, w.Count("SELECT count(*) FROM settings WHERE email_gate_enabled OR rewards_enabled OR restore_enabled"),
		"the settings are those of before")
	require.EqualValues(t, 2, w.Count("SELECT passports FROM owner_emails"))

	mails := output(t, []string{"operator", "mails", "--address", s.operator}, asOperator...)
	for _, kind := range []string{"link_code", "registration_code", "restore_link", "o***@example.org"} {
		require.Contains(t, mails, kind)
	}
	require.Regexp(t, `restore_link .* 1 +\d+s`, mails, "it is sent")
	require.Contains(t, output(t, []string{"operator", "retention", "--address", s.operator}, asOperator...), "email_challenges")
	for _, secret := range []string{"@example.org", "/owner/confirm/0", "/owner/restore/0"} {
		require.NotContains(t, s.log.String(), secret, "the log names neither addresses nor links")
	}
}

// A server that is killed between any two steps of a registration through the gate continues from there, with one mail, one
// passport and one grant.
func TestKilledBetweenTheStepsOfTheGate(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	w := graphtest.New(t, graphtest.WithMail(new(graphtest.Mailbox)))
	w.RequireOwners()
	folder := t.TempDir()
	start := func() *testServer {
		return startServer(t, append(fileMails, "STOA_DATABASE_URL="+w.URL, "STOA_DATA_DIR="+folder)...)
	}
	s := start()
	again := func() {
		s.kill(w)
		s = start()
	}
	ada := s.newAgent("Ada", "ada")
	post := func(path, member string, body any) string {
		return graphtest.Got(client.One[string](t.Context(), s.client(""), http.MethodPost, path, member, body))(t)
	}
	challenge := post("/registration/email/request", "challenge_id", map[string]string{
		"email": "owner@example.org", "handle": ada.Handle, "encryption_public_key": ada.keys.Public(),
	})
	again()
	readMail(t, folder)
	w.Exec("UPDATE email_challenges SET confirmed_at = now(), documents = '[]'")
	again()
	proof := map[string]string{"challenge_id": challenge, "code": readCode(t, folder)}
	body := ada.registration()
	body["owner_challenge_id"] = challenge
	body["owner_verification_token"] = post("/registration/email/verify", "verification_token", proof)
	again()
	token := post("/bots/register", "token", body)
	again()
	require.Equal(t, token, post("/bots/register", "token", body))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM bots"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'grant' AND bot_id IS NOT NULL"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM mails"))
}

// fileMails are settings with which a server writes mails to a folder.
var fileMails = []string{"STOA_SMTP_URL=file:mails", "STOA_MAIL_FROM=stoa@stoa.example"}

// readMail waits for the one mail in a data folder and reads it.
func readMail(t testing.TB, folder string) *graphtest.Mail {
	t.Helper()
	var written []string
	eventually(t, func() bool {
		written = graphtest.Got(filepath.Glob(filepath.Join(folder, "mails", "*.eml")))(t)
		return len(written) > 0
	}, "the mail is not sent")
	require.Len(t, written, 1)
	file := graphtest.Got(os.Open(written[0]))(t)
	defer file.Close()
	return graphtest.Got(graphtest.ReadMail(file))(t)
}

// readCode returns the code of the one mail in a data folder.
func readCode(t testing.TB, folder string) string {
	t.Helper()
	code := regexp.MustCompile(`this code: (\d{6})`).FindStringSubmatch(readMail(t, folder).Text)
	require.NotNil(t, code)
	return code[1]
}
