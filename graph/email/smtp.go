package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

const (
	connectTimeout = 10 * time.Second
	// sendTimeout bounds one whole attempt.
	sendTimeout = 30 * time.Second
)

// policies maps ?starttls= to the encryption of a connection that begins unencrypted. Without it, it is encrypted if the server
// offers that.
var policies = map[string]gomail.TLSPolicy{"": gomail.TLSOpportunistic, "required": gomail.TLSMandatory, "never": gomail.NoTLS}

// server sends over SMTP, each mail on its own connection.
type server struct {
	host string
	port int
	// implicit encrypts from the first byte on (smtps).
	implicit bool
	starttls gomail.TLSPolicy
	// user is empty if the server asks for no authentication.
	user, password string
	// roots holds the trusted certificate authorities; nil means the system's.
	roots *x509.CertPool
	// timeout bounds an attempt.
	timeout time.Duration
}

// Send implements Mailer. It ends at the latest when ctx does, or after the timeout.
func (s *server) Send(ctx context.Context, m *Message) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("no answer within %v", s.timeout))
	defer cancel()
	answer, err := s.send(ctx, m)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return answer, err
}

func (s *server) send(ctx context.Context, m *Message) (string, error) {
	// The connection is closed with ctx, so that no step outlasts it.
	connections := make([]net.Conn, 0, 1)
	defer func() {
		for _, c := range connections {
			_ = c.Close() // the server has answered already
		}
	}()
	dial := func(dialing context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: connectTimeout}).DialContext(dialing, network, address)
		if err != nil {
			return nil, err
		}
		connections = append(connections, conn)
		context.AfterFunc(ctx, func() { _ = conn.Close() })
		if !s.implicit {
			return conn, nil
		}
		secure := tls.Client(conn, s.tls())
		return secure, secure.HandshakeContext(dialing)
	}
	client, err := gomail.NewClient(s.host, s.options(dial)...)
	if err != nil {
		return "", err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return "", s.explain(err)
	}
	if err := session.Mail("<" + m.From.String() + ">"); err != nil {
		return "", plain("the sender was not accepted", err)
	}
	if err := session.Rcpt("<" + m.To.String() + ">"); err != nil {
		return "", final("the recipient was not accepted", err)
	}
	body, err := session.Data()
	if err != nil {
		return "", final("the message was not accepted", err)
	}
	if _, err := m.WriteTo(body); err != nil {
		return "", err
	}
	if err := body.Close(); err != nil {
		return "", final("the message was not accepted", err)
	}
	answer := "250"
	if said, ok := body.(*smtp.DataCloser); ok {
		answer = oneLine(answer + " " + said.ServerResponse())
	}
	_ = session.Quit() // the mail is accepted already
	return answer, nil
}

func (s *server) options(dial gomail.DialContextFunc) []gomail.Option {
	policy := s.starttls
	if s.implicit {
		policy = gomail.NoTLS // it is encrypted already
	}
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(sendTimeout), gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(s.tls()),
		gomail.WithDialContextFunc(dial), gomail.WithoutSMTPUTF8(),
	}
	if s.user == "" {
		return options
	}
	// A password goes over an unencrypted connection only if the setting asks for that.
	whole, login := gomail.SMTPAuthPlain, gomail.SMTPAuthLogin
	if s.starttls == gomail.NoTLS {
		whole, login = gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc
	}
	return append(options, gomail.WithUsername(s.user), gomail.WithPassword(s.password), gomail.WithOpportunisticSMTPAuth(
		gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, whole, login, gomail.SMTPAuthCramMD5))
}

func (s *server) tls() *tls.Config {
	return &tls.Config{ServerName: s.host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}
}

// explain adds advice to an error that happened before the mail was begun.
func (s *server) explain(err error) error {
	unknown, answer := new(tls.CertificateVerificationError), new(textproto.Error)
	switch {
	case errors.As(err, &answer) && asksForLogin[answer.Code]:
		return plain("the server did not accept user and password", err)
	case errors.Is(err, smtp.ErrUnencrypted):
		return errors.New("the server offers no encryption, so it does not get the password (?starttls=never sends it all the same)")
	case errors.As(err, &unknown):
		return fmt.Errorf("the server's certificate is not trusted (a file of certificates can be set): %w", err)
	}
	return plain("no session with "+s.String(), err)
}

// asksForLogin holds the codes by which a server demands authentication or encryption, in answer to any command.
var asksForLogin = map[int]bool{530: true, 534: true, 535: true, 538: true}

// final turns the server's answer 5xx about a recipient or a message into a *RefusedError.
func final(what string, err error) error {
	answer := new(textproto.Error)
	if errors.As(err, &answer) && answer.Code/100 == 5 && !asksForLogin[answer.Code] {
		return &RefusedError{Answer: answerText(answer)}
	}
	return plain(what, err)
}

// plain returns an error that names the failed step and quotes the server's answer, if there is one.
func plain(what string, err error) error {
	if answer := new(textproto.Error); errors.As(err, &answer) {
		return fmt.Errorf("%s: %s", what, answerText(answer))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// answerText is an answer on one line.
func answerText(answer *textproto.Error) string {
	return oneLine(fmt.Sprintf("%d %s", answer.Code, answer.Msg))
}
