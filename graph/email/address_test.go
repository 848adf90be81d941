package email_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"stoa/graph/email"
	"stoa/graph/graphtest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for given, normal := range map[string]string{
		"ada@example.org":                 "ada@example.org",
		"  Ada.Lovelace@Example.ORG ":     "Ada.Lovelace@example.org",
		"a.d.a+stoa@example.org":          "a.d.a+stoa@example.org",
		"!#$%&'*+-/=?^_`{|}~@example.org": "!#$%&'*+-/=?^_`{|}~@example.org",
		"ada@bücher.example":              "ada@xn--bcher-kva.example",
		"ada@BÜCHER.example":              "ada@xn--bcher-kva.example",
		"ada@xn--bcher-kva.example":       "ada@xn--bcher-kva.example",
		"ada@ｅｘａｍｐｌｅ.org":                 "ada@example.org",
		"ada@例え。テスト":                      "ada@xn--r8jz45g.xn--zckzah",
		"ada@sub.sub.example.museum":      "ada@sub.sub.example.museum",
		"ada@1.example.org":               "ada@1.example.org",
		long + "@example.org":             long + "@example.org",
		"ada@straße.example":              "ada@xn--strae-oqa.example",
		"0@x.co":                          "0@x.co",
		long + "@" + label(63) + "." + label(63) + "." + label(61): long + "@" + label(63) + "." + label(63) + "." + label(61),
	} {
		parsed := graphtest.Got(email.Parse(given))(t, given)
		require.Equal(t, normal, parsed.String())
	}
}

// Mail goes to the local part as it was written. Comparisons ignore its case, and limits on mails also ignore its +suffix.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]struct{ sent, key, mailbox, hint string }{
		"Zoe.Owner+x@Example.org": {"Zoe.Owner+x@example.org", "zoe.owner+x@example.org", "zoe.owner@example.org", "z***@example.org"},
		"z@example.org":           {"z@example.org", "z@example.org", "z@example.org", "z***@example.org"},
		"ZOE+a+b@BÜCHER.example":  {"ZOE+a+b@xn--bcher-kva.example", "zoe+a+b@xn--bcher-kva.example", "zoe@xn--bcher-kva.example", "z***@xn--bcher-kva.example"},
		"+x@example.org":          {"+x@example.org", "+x@example.org", "+x@example.org", "+***@example.org"},
		"z.o.e+@example.org":      {"z.o.e+@example.org", "z.o.e+@example.org", "z.o.e@example.org", "z***@example.org"},
	} {
		parsed := graphtest.Got(email.Parse(given))(t, given)
		require.Equal(t, want.sent, parsed.String())
		require.Equal(t, want.key, parsed.Key())
		require.Equal(t, want.mailbox, parsed.Mailbox())
		require.Equal(t, want.hint, parsed.Hint())
	}
}

func label(n int) string { return strings.Repeat("b", n) }

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for given, complaint := range map[string]string{
		"":                                 "must be an email address",
		"   ":                              "must be an email address",
		"ada":                              "must be an email address",
		"@example.org":                     "before the @",
		"ada@":                             "must have a domain",
		"ada@example":                      "must have a domain",
		"ada@localhost":                    "must have a domain",
		"ada@example..org":                 "must have a domain",
		"ada@.example.org":                 "must have a domain",
		"ada@example.org.":                 "must have a domain",
		"ada@192.0.2.1":                    "must have a domain",
		"ada@-example.org":                 "must have a domain",
		"ada@exa_mple.org":                 "must have a domain",
		"ada@" + label(64) + ".org":        "must have a domain",
		"ada@xn--a.example":                "must have a domain",
		"ada@\xff.example":                 "line breaks",
		"ada@[192.0.2.1]":                  "without a name, comments, quotes or brackets",
		"Ada <ada@example.org>":            "without a name",
		"<ada@example.org>":                "without a name",
		"ada@example.org, bob@example.org": "without a name",
		"ada@example.org;bob@example.org":  "without a name",
		"ada@bob@example.org":              "without a name",
		`"ada"@example.org`:                "without a name",
		"ada(lovelace)@example.org":        "without a name",
		"ada lovelace@example.org":         "without a name",
		`ada\@example.org`:                 "without a name",
		"ada@example.org\r\nBcc: x@y.org":  "line breaks",
		"ada@example.org\n":                "line breaks",
		"\tada@example.org":                "line breaks",
		"ada\x00@example.org":              "line breaks",
		"ada\u0085@example.org":            "line breaks",
		".ada@example.org":                 "before the @",
		"ada.@example.org":                 "before the @",
		"a..da@example.org":                "before the @",
		"ädä@example.org":                  "before the @",
		"\u212aelvin@example.org":          "before the @",
		label(65) + "@example.org":         "before the @",
		label(64) + "@" + label(63) + "." + label(63) + "." + label(62): "254 characters",
		"a@" + strings.Repeat("ü.", 120) + "example.org":                "must have a domain",
	} {
		require.ErrorContains(t, graphtest.Err(email.Parse(given)), complaint, "%q", given)
	}
}

// Every text that Parse accepts becomes one address in its normal form, which a header can hold.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"ada@example.org", "Ada+x@BÜCHER.example", "a@b.c\r\nBcc: d@e.f", `"a"@b.c`, "a@例え。テスト", "a@xn--bcher-kva.example"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		parsed, err := email.Parse(given)
		if err != nil {
			require.Equal(t, email.Address{}, parsed)
			return
		}
		text := parsed.String()
		require.LessOrEqual(t, len(text), 254)
		require.False(t, strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' }), text)
		require.False(t, strings.ContainsFunc(parsed.Key(), unicode.IsUpper), text)
		again := graphtest.Got(email.Parse(text))(t, text)
		require.Equal(t, parsed, again)
		read := graphtest.Got(mail.ParseAddress(text))(t, text)
		require.Equal(t, text, read.Address)
		require.NotContains(t, parsed.Hint(), text)
	})
}

// received is one mail that the mail server accepted.
type received struct {
	from, to string
	tls      bool
	user     string
	mail     *graphtest.Mail
	raw      []byte
}

// sink is a mail server that keeps the mails that it accepts.
type sink struct {
	t *testing.T
	// rcpt and data answer the recipient and the message; nil accepts.
	rcpt, data func() error
	// user and password are demanded if they are set.
	user, password string

	address string
	ca      *x509.CertPool
	mu      sync.Mutex
	mails   []received
}

// encryption is the kind of encryption that a sink offers.
type encryption int

const (
	noTLS encryption = iota
	withStartTLS
	implicitTLS
)

// listen starts the server.
func (s *sink) listen(offers encryption) *sink {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{sink: s, conn: c}, nil }))
	server.Domain, server.AllowInsecureAuth = "mail.example", true
	server.ErrorLog = log.New(io.Discard, "", 0)
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if offers != noTLS {
		var certificate tls.Certificate
		certificate, s.ca = newCertificate(s.t)
		config.Certificates = []tls.Certificate{certificate}
	}
	listener := graphtest.Got(net.Listen("tcp", "127.0.0.1:0"))(s.t)
	s.address = listener.Addr().String()
	switch offers {
	case withStartTLS:
		server.TLSConfig = config
	case implicitTLS:
		listener = tls.NewListener(listener, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it ends with Close
	}()
	s.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

func (s *sink) received() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// newCertificate returns a certificate of 127.0.0.1 that is its own authority.
func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.TLS.Certificates[0], pool
}

// session is one connection.
type session struct {
	sink *sink
	conn *smtp.Conn
	user string
	now  received
}

func (s *session) AuthMechanisms() []string {
	if s.sink.user == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.sink.user || password != s.sink.password {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.sink.user != s.user {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	_, encrypted := s.conn.TLSConnectionState()
	s.now = received{from: from, tls: encrypted, user: s.user}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.now.to = to
	if s.sink.rcpt != nil {
		return s.sink.rcpt()
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.sink.data != nil {
		if err := s.sink.data(); err != nil {
			return err
		}
	}
	s.now.raw = raw
	if s.now.mail, err = graphtest.ReadMail(bytes.NewReader(raw)); err != nil {
		return errors.New("not a mail with two parts")
	}
	s.sink.mu.Lock()
	defer s.sink.mu.Unlock()
	s.sink.mails = append(s.sink.mails, s.now)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
