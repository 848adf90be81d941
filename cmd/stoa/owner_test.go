package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// The whole life of an agent and its owner, from outside: pages, mails, gate, linking, rewards, restoring.
func TestOwnerDemo(t *testing.T) {
	nightly(t)
	t.Parallel()
	w := graphtest.New(t)
	s := startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_SMTP_URL=file:mails", "STOA_MAIL_FROM=stoa@stoa.example")
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

// A server that is killed between any two steps of a registration through the gate goes on from there, with one mail, one
// passport and one grant.
func TestKilledBetweenTheStepsOfTheGate(t *testing.T) {
	nightly(t)
	t.Parallel()
	w := graphtest.New(t, graphtest.WithMail(new(graphtest.Mailbox)))
	w.RequireOwners()
	folder := t.TempDir()
	start := func() *testServer {
		return startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_DATA_DIR="+folder, "STOA_SMTP_URL=file:mails", "STOA_MAIL_FROM=stoa@stoa.example")
	}
	s := start()
	again := func() {
		s.kill(w)
		s = start()
	}
	ada := s.newAgent("Ada", "ada")
	var asked struct {
		ChallengeID string `json:"challenge_id"`
	}
	post := func(path string, body, into any) {
		require.NoError(t, s.client("").Do(t.Context(), http.MethodPost, path, body, into))
	}
	post("/registration/email/request", map[string]string{
		"email": "owner@example.org", "handle": ada.Handle, "encryption_public_key": ada.keys.Public(),
	}, &asked)
	again()
	eventually(t, func() bool {
		written, err := filepath.Glob(filepath.Join(folder, "mails", "*.eml"))
		return err == nil && len(written) == 1
	}, "the mail is not sent")
	w.Exec("UPDATE email_challenges SET confirmed_at = now(), documents = '[]'")
	again()
	mail := readCode(t, folder)
	var proof struct {
		Token string `json:"verification_token"`
	}
	post("/registration/email/verify", map[string]string{"challenge_id": asked.ChallengeID, "code": mail}, &proof)
	again()
	body := ada.registration()
	body["owner_challenge_id"], body["owner_verification_token"] = asked.ChallengeID, proof.Token
	var first, second struct {
		Token string `json:"token"`
	}
	post("/bots/register", body, &first)
	again()
	post("/bots/register", body, &second)
	require.Equal(t, first, second)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM bots"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'grant' AND bot_id IS NOT NULL"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM mails"))
}

// readMail reads the one mail in a data folder.
func readMail(t testing.TB, folder string) *graphtest.Mail {
	t.Helper()
	written := graphtest.Got(filepath.Glob(filepath.Join(folder, "mails", "*.eml")))(t)
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
