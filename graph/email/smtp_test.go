package email_test

import (
	"context"
	"io"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"stoa/graph/email"
	"stoa/graph/graphtest"
)

func mailer(t *testing.T, config email.MailerConfig) email.Mailer {
	t.Helper()
	return graphtest.Got(email.NewMailer(config))(t)
}

func testMail(t *testing.T) *email.Message {
	t.Helper()
	m, err := email.NewTest(&netmail.Address{Name: "Stoa, the mäil", Address: "Stoa@Stoa.example"}, address(t, "ada@example.org"), time.Now())
	require.NoError(t, err)
	return m
}

func answer(code int, text string) func() error {
	return func() error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
	}
}

// Encryption and authentication: the setting, the server's offer, and the result.
func TestSMTPEncryption(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offers    encryption
		scheme    string
		query     string
		user      string
		file      string // the password's
		withoutCA bool
		// encrypted reports that the mail arrives encrypted; fails is the error if it must not arrive.
		encrypted bool
		fails     string
	}{
		"plain":                        {offers: noTLS, scheme: "smtp"},
		"offered":                      {offers: withStartTLS, scheme: "smtp", encrypted: true},
		"offered, never":               {offers: withStartTLS, scheme: "smtp", query: "?starttls=never"},
		"offered, required":            {offers: withStartTLS, scheme: "smtp", query: "?starttls=required", encrypted: true},
		"missing, required":            {offers: noTLS, scheme: "smtp", query: "?starttls=required", fails: "does not support STARTTLS"},
		"implicit":                     {offers: implicitTLS, scheme: "smtps", encrypted: true},
		"unknown authority":            {offers: withStartTLS, scheme: "smtp", withoutCA: true, fails: "certificate is not trusted"},
		"implicit, unknown authority":  {offers: implicitTLS, scheme: "smtps", withoutCA: true, fails: "certificate is not trusted"},
		"password, offered":            {offers: withStartTLS, scheme: "smtp", user: "stoa:p%40ss@", encrypted: true},
		"password, implicit":           {offers: implicitTLS, scheme: "smtps", user: "stoa:p%40ss@", encrypted: true},
		"password, never":              {offers: noTLS, scheme: "smtp", query: "?starttls=never", user: "stoa:p%40ss@"},
		"password from a file":         {offers: withStartTLS, scheme: "smtp", user: "stoa@", file: "p@ss", encrypted: true},
		"wrong password":               {offers: withStartTLS, scheme: "smtp", user: "stoa:hunter2@", fails: "did not accept user and password: 535"},
		"implicit spoken in the clear": {offers: noTLS, scheme: "smtps", fails: "no session with smtps://127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sink{t: t}
			if c.user != "" {
				s.user, s.password = "stoa", "p@ss"
			}
			s.listen(c.offers)
			config := email.MailerConfig{URL: c.scheme + "://" + c.user + s.address + c.query, Password: c.file, CA: s.ca}
			if c.withoutCA {
				config.CA = nil
			}
			said, err := mailer(t, config).Send(t.Context(), testMail(t))
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				require.NotErrorAs(t, err, new(*email.RefusedError))
				require.NotContains(t, err.Error(), "hunter2")
				require.Empty(t, s.received())
				return
			}
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(said, "250 "), said)
			got := s.received()
			require.Len(t, got, 1)
			require.Equal(t, c.encrypted, got[0].tls)
			require.Equal(t, s.user, got[0].user)
			require.Equal(t, "Stoa@stoa.example", got[0].from, "as it is written")
			require.Equal(t, "ada@example.org", got[0].to)
			require.Equal(t, "Test mail from Stoa", got[0].mail.Subject)
			require.Equal(t, "Stoa, the mäil", graphtest.Got(got[0].mail.Header.AddressList("From"))(t)[0].Name)
		})
	}
}

// The server's 4xx is temporary. Its 5xx about recipient or message is final, except if it demands a login.
func TestSMTPRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rcpt, data func() error
		answer     string
		final      bool
	}{
		"recipient unknown":    {rcpt: answer(550, "no such user"), answer: "refused: 550 5.1.1 no such user", final: true},
		"recipient busy":       {rcpt: answer(450, "greylisted"), answer: "the recipient was not accepted: 450 4.1.1 greylisted"},
		"recipient, login":     {rcpt: answer(530, "log in"), answer: "the recipient was not accepted: 530 5.1.1 log in"},
		"message refused":      {data: answer(554, "spam"), answer: "refused: 554 5.1.1 spam", final: true},
		"message not now":      {data: answer(452, "disk full"), answer: "the message was not accepted: 452 4.1.1 disk full"},
		"message, many\nlines": {data: answer(552, "too\nlarge"), answer: "refused: 552 too 5.1.1 large", final: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := (&sink{t: t, rcpt: c.rcpt, data: c.data}).listen(noTLS)
			_, err := mailer(t, email.MailerConfig{URL: "smtp://" + s.address}).Send(t.Context(), testMail(t))
			require.Error(t, err)
			if refused := new(email.RefusedError); c.final {
				require.ErrorAs(t, err, &refused)
			} else {
				require.NotErrorAs(t, err, &refused)
			}
			require.Equal(t, c.answer, err.Error())
			require.Empty(t, s.received())
		})
	}
}

func TestDeadServer(t *testing.T) {
	t.Parallel()
	listener := graphtest.Got(net.Listen("tcp", "127.0.0.1:0"))(t)
	require.NoError(t, listener.Close())
	_, err := mailer(t, email.MailerConfig{URL: "smtp://" + listener.Addr().String()}).Send(t.Context(), testMail(t))
	require.ErrorContains(t, err, "connection refused")
	require.NotErrorAs(t, err, new(*email.RefusedError))
}

// A server that accepts connections and says nothing, or stops in the middle, holds an attempt no longer than its time limit, and
// a shutdown ends it at once.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	for name, greeting := range map[string]string{"silent": "", "silent after the greeting": "220 mail.example\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := graphtest.Got(net.Listen("tcp", "127.0.0.1:0"))(t)
			t.Cleanup(func() { require.NoError(t, listener.Close()) })
			connected := make(chan struct{}, 2)
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					_, _ = io.WriteString(conn, greeting)
					connected <- struct{}{}
					go func() {
						_, _ = io.Copy(io.Discard, conn)
						_ = conn.Close()
					}()
				}
			}()
			url := "smtp://" + listener.Addr().String()
			_, err := mailer(t, email.MailerConfig{URL: url, Timeout: 50 * time.Millisecond}).Send(t.Context(), testMail(t))
			require.ErrorContains(t, err, "no answer within 50ms")
			<-connected

			ctx, stop := context.WithCancel(t.Context())
			go func() { <-connected; stop() }()
			_, err = mailer(t, email.MailerConfig{URL: url}).Send(ctx, testMail(t))
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	to := mailer(t, email.MailerConfig{URL: "file:mails/out", DataDir: data})
	m := testMail(t)
	for range 2 { // a repeat replaces itself
		said := graphtest.Got(to.Send(t.Context(), m))(t)
		require.Equal(t, "written to "+filepath.Join(data, "mails", "out", m.ID.String()+".eml"), said)
	}
	there := graphtest.Got(filepath.Glob(filepath.Join(data, "mails", "out", "*")))(t)
	require.Len(t, there, 1)
	require.Equal(t, os.FileMode(0o600), graphtest.Got(os.Stat(there[0]))(t).Mode())
	file := graphtest.Got(os.Open(there[0]))(t)
	defer file.Close()
	require.Contains(t, graphtest.Got(graphtest.ReadMail(file))(t).Text, "This is a test.")

	absolute := filepath.Join(t.TempDir(), "x")
	require.Equal(t, "file:"+absolute, mailer(t, email.MailerConfig{URL: "file:" + absolute, DataDir: data}).String())
	require.NoError(t, os.WriteFile(absolute, nil, 0o600))
	require.Error(t, graphtest.Err(mailer(t, email.MailerConfig{URL: "file:" + absolute}).Send(t.Context(), m)))
}

func TestMailerURLs(t *testing.T) {
	t.Parallel()
	for url, shown := range map[string]string{
		"smtp://mail.example.org":                                "smtp://mail.example.org:587",
		"smtp://stoa:hunter2@mail.example.org:25":                "smtp://mail.example.org:25",
		"smtps://stoa:hunter2@mail.example.org/":                 "smtps://mail.example.org:465",
		"smtp://stoa:hunter%402@[2001:db8::1]?starttls=required": "smtp://[2001:db8::1]:587",
		"smtp://127.0.0.1:2525?starttls=never":                   "smtp://127.0.0.1:2525",
	} {
		require.Equal(t, shown, mailer(t, email.MailerConfig{URL: url}).String())
	}
	for url, complaint := range map[string]string{
		"":                                        "must be a URL such as smtp://",
		"mail.example.org:25":                     "must be a URL such as smtp://",
		"http://u:hunter2@mail.example.org":       "must be a URL such as smtp://",
		"smtp://":                                 "must be a URL such as smtp://",
		"smtp://u:hunter2#@mail.example.org":      "must be a URL such as smtp://",
		"smtp://u:hunter2%zz@mail.example.org":    "must be a URL such as smtp://",
		"smtp://mail.example.org:0":               "must be a URL such as smtp://",
		"smtp://mail.example.org:66000":           "must be a URL such as smtp://",
		"smtp://mail.example.org/inbox":           "must be a URL such as smtp://",
		"smtp://mail.example.org?starttls=maybe":  "may only have ?starttls=",
		"smtp://mail.example.org?tls=required":    "may only have ?starttls=",
		"smtps://mail.example.org?starttls=never": "may only have ?starttls=",
		"smtp://:hunter2@mail.example.org":        "password without a user",
		"file:":                                   "must name a folder",
		"file://mails":                            "must name a folder",
	} {
		_, err := email.NewMailer(email.MailerConfig{URL: url})
		require.ErrorContains(t, err, complaint, url)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := email.NewMailer(email.MailerConfig{URL: "smtp://u:hunter2@mail.example.org", Password: "hunter3"})
	require.ErrorContains(t, err, "besides another password")
}
