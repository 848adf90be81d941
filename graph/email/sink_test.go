package email_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

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
	s.t.Helper()
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{sink: s, conn: c}, nil }))
	server.Domain, server.AllowInsecureAuth = "mail.example", true
	server.ErrorLog = log.New(io.Discard, "", 0)
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if offers != noTLS {
		var certificate tls.Certificate
		certificate, s.ca = newCertificate(s.t)
		config.Certificates = []tls.Certificate{certificate}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
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

// newCertificate makes a certificate of 127.0.0.1 that is its own authority.
func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sink"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	made, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(made)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
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
