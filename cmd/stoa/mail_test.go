package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
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
