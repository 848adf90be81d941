package email

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"stoa/rest/client/durable"
)

// Mailer sends mails.
type Mailer interface {
	// Send hands over a message and returns the server's answer. A *RefusedError is final; after any other error the message may
	// be sent again.
	Send(ctx context.Context, m *Message) (answer string, err error)
	// String names the destination of the mails, without a password.
	String() string
}

// RefusedError is a permanent refusal of a recipient or a message.
type RefusedError struct {
	// Answer is the server's, such as "550 5.1.1 no such user".
	Answer string
}

func (e *RefusedError) Error() string { return "refused: " + e.Answer }

// MailerConfig holds the destination of mails.
type MailerConfig struct {
	// URL is smtp://user:password@host:587, with ?starttls=required or never; smtps://…; or file:FOLDER.
	URL string
	// Password is the user's password, instead of the one in the URL.
	Password string
	// CA holds the trusted certificate authorities; nil means the system's.
	CA *x509.CertPool
	// DataDir is the base of a relative FOLDER.
	DataDir string
	// Timeout bounds an attempt over SMTP; 0 means 30 s.
	Timeout time.Duration
}

// Ports of a URL that names none.
const (
	submissionPort  = 587
	submissionsPort = 465
)

var (
	errURL = errors.New("must be a URL such as smtp://user:password@mail.example.org:587, smtps://mail.example.org or file:mails;" +
		" special characters of user and password are written as %XX")
	errFolder   = errors.New("must name a folder, such as file:mails")
	errStartTLS = errors.New("may only have ?starttls=required or ?starttls=never behind an smtp:// address")
	errPassword = errors.New("has a password without a user, or besides another password")
)

// NewMailer makes a mailer; it connects to nothing yet. Its errors never repeat the URL, which may hold a password.
func NewMailer(c MailerConfig) (Mailer, error) {
	if path, ok := strings.CutPrefix(c.URL, "file:"); ok {
		return newFolder(path, c.DataDir)
	}
	parsed, err := url.Parse(c.URL)
	if err != nil || parsed.Hostname() == "" || strings.Trim(parsed.Path, "/") != "" || parsed.Fragment != "" {
		return nil, errURL
	}
	s := &server{host: parsed.Hostname(), port: submissionPort, user: parsed.User.Username(), password: c.Password, roots: c.CA,
		timeout: cmp.Or(c.Timeout, sendTimeout)}
	switch parsed.Scheme {
	case "smtp":
	case "smtps":
		s.implicit, s.port = true, submissionsPort
	default:
		return nil, errURL
	}
	if port := parsed.Port(); port != "" {
		if s.port, err = strconv.Atoi(port); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errURL
		}
	}
	if given, ok := parsed.User.Password(); ok {
		if c.Password != "" {
			return nil, errPassword
		}
		s.password = given
	}
	if s.password != "" && s.user == "" {
		return nil, errPassword
	}
	if s.starttls, err = startTLS(parsed); err != nil {
		return nil, err
	}
	return s, nil
}

// startTLS reads the query of an smtp:// URL.
func startTLS(parsed *url.URL) (gomail.TLSPolicy, error) {
	query, err := url.ParseQuery(parsed.RawQuery)
	policy, known := policies[query.Get("starttls")]
	if err != nil || len(query) > 1 || len(query) == 1 && (len(query["starttls"]) != 1 || parsed.Scheme != "smtp") || !known {
		return policy, errStartTLS
	}
	return policy, nil
}

func newFolder(path, dataDir string) (Mailer, error) {
	if path == "" || strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///") {
		return nil, errFolder
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dataDir, path)
	}
	return &folder{filepath.Clean(path)}, nil
}

func (s *server) String() string {
	scheme := "smtp"
	if s.implicit {
		scheme = "smtps"
	}
	return scheme + "://" + net.JoinHostPort(s.host, strconv.Itoa(s.port))
}

// folder keeps mails as files instead of sending them, for trying Stoa without a mail server. A repeated mail overwrites its
// file.
type folder struct{ path string }

func (f *folder) String() string { return "file:" + f.path }

// Send implements Mailer: it writes <id>.eml, readable by its owner alone.
func (f *folder) Send(_ context.Context, m *Message) (string, error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return "", err
	}
	var content bytes.Buffer
	if _, err := m.WriteTo(&content); err != nil {
		return "", err
	}
	path := filepath.Join(f.path, m.ID.String()+".eml")
	return "written to " + path, durable.WriteFile(path, content.Bytes())
}
