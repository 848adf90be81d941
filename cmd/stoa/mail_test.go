package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

func TestMailSettings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	password, empty := write("password", "hunter2\n"), write("empty", "\n")
	const server, from = "--smtp-url=smtp://stoa@mail.example", "--mail-from=Stoa <stoa@stoa.example>"
	for _, args := range [][]string{
		{}, {server, from}, {server, from, "--smtp-password-file=" + password}, {"--smtp-url=file:mails", "--mail-from=stoa@stoa.example"},
	} {
		_, err := parse(append([]string{"serve"}, args...), io.Discard, io.Discard)
		require.NoError(t, err, args)
	}
	for complaint, args := range map[string][]string{
		"--smtp-url must be a URL such as":          {"--smtp-url=smtp://stoa:hunter2%zz@mail.example", from},
		"--smtp-url may only have":                  {"--smtp-url=smtp://mail.example?starttls=perhaps", from},
		"--smtp-url has a password":                 {"--smtp-url=smtp://mail.example", from, "--smtp-password-file=" + password},
		"--mail-from must be an address":            {server, "--mail-from=Stoa"},
		"--mail-from must have a domain":            {server, "--mail-from=stoa@localhost"},
		"--smtp-password-file: open":                {server, from, "--smtp-password-file=" + folder + "/none"},
		"empty is empty":                            {server, from, "--smtp-password-file=" + empty},
		"--smtp-ca-file: open":                      {server, from, "--smtp-ca-file=" + folder + "/none"},
		"password holds no certificate in PEM":      {server, from, "--smtp-ca-file=" + password},
		"--smtp-url is missing: without it no mail": {"--smtp-password-file=" + password},
	} {
		_, err := parse(append([]string{"serve"}, args...), io.Discard, io.Discard)
		require.ErrorContains(t, err, complaint)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestMailTest(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	settings := []string{"--data-dir=" + data, "--smtp-url=file:mails", "--mail-from=stoa@stoa.example"}
	code, stdout, stderr := runInProcess(append([]string{"mail", "test", "Ada@Example.org"}, settings...)...)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "Sending a test mail to Ada@example.org over file:"+filepath.Join(data, "mails"))
	require.Contains(t, stdout, "Accepted: written to ")
	require.Equal(t, "Test mail from Stoa", readMail(t, data).Subject)

	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, dead.Close())
	code, _, stderr = runInProcess("mail", "test", "ada@example.org", "--smtp-url=smtp://"+dead.Addr().String(), "--mail-from=stoa@stoa.example")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "the mail was not accepted: ")
	require.Contains(t, stderr, "connection refused")

	for complaint, args := range map[string][]string{
		"mail is not set up":        {"ada@example.org"},
		"the address must be one":   append([]string{"Ada <ada@example.org>"}, settings...),
		"the address must not hold": append([]string{"ada@example.org\r\nBcc: bob@example.org"}, settings...),
		"--mail-from is missing":    {"ada@example.org", "--smtp-url=file:mails"},
	} {
		code, _, stderr = runInProcess(append([]string{"mail", "test"}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, complaint)
	}
}

// A server with mail lets operators switch on features that need it, sends waiting mails, and shows them without the address.
func TestServerSendsMail(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	w.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, claimed_until)
		VALUES (gen_random_uuid(), now(), 'test', 'ada@example.org', 'a***@example.org', now())`)
	s := startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_SMTP_URL=file:mails", "STOA_MAIL_FROM=stoa@stoa.example",
		"STOA_SECRET_KEY_FILE=")
	require.FileExists(t, filepath.Join(s.data, secretKeyFile))
	eventually(t, func() bool {
		written, err := filepath.Glob(filepath.Join(s.data, "mails", "*.eml"))
		return err == nil && len(written) == 1
	}, "the mail is not sent")
	eventually(t, func() bool { return s.hasMetric(`stoa_mail_attempts_total{outcome="sent"} 1`) }, "the mail is not counted")
	eventually(t, func() bool { return s.hasMetric("stoa_mails_waiting 0") }, "the mail still waits")
	shown := s.queryOperator("{mails{edges{node{kind addressHint sentAt attempts}}}}")
	require.Contains(t, shown, "a***@example.org")
	require.NotContains(t, shown, "ada@")
	require.Contains(t, s.queryOperator(`mutation{activateLifecycle(reason:"because"){lifecycleActivatedAt}}`), "lifecycleActivatedAt")
}
