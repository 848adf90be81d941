package testbed

import (
	"errors"
	"io"
	"log"
	"net"
	"sync"

	"github.com/emersion/go-smtp"

	"stoa/cmd/letter"
)

// Mail is a mail that the mail server has accepted.
type Mail struct {
	letter.Letter

	To string
	// Answered: the server sent the confirmation; otherwise it cut the connection before it.
	Answered bool
}

// MailServer accepts the mails of all servers. Its methods may be called from any goroutine.
type MailServer struct {
	// Network lies between it and the servers.
	Network *Network

	server *smtp.Server

	mu   sync.Mutex
	take func(Mail)
	// lying: each mail meets the next lie. lies counts them.
	lying bool
	lies  int
}

func newMailServer() (*MailServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return nil, err
	}
	m := &MailServer{take: func(Mail) {}}
	m.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &mailSession{MailServer: m, conn: c.Conn()}, nil
	}))
	m.server.Domain, m.server.ErrorLog = "mail.example", log.New(io.Discard, "", 0)
	go func() { _ = m.server.Serve(listener) }() // it ends with close
	m.Network, err = newNetwork("mail", []string{listener.Addr().String()})
	return m, err
}

// Notify makes the server call take with every mail from now on, before its sender gets an answer.
func (m *MailServer) Notify(take func(Mail)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take = take
}

// Lie makes the server tell lies, or stop: in turn, it cuts the connection in the middle of a mail, answers 451 to a whole mail, and
// accepts a mail but cuts the connection before it confirms that.
func (m *MailServer) Lie(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lying = on
}

func (m *MailServer) close() {
	m.Network.Cut()
	_ = m.server.Close() // it ends with the run
}

// mailSession is the session of one connection.
type mailSession struct {
	*MailServer

	conn net.Conn
	to   string
}

func (s *mailSession) Reset()                               {}
func (s *mailSession) Logout() error                        { return nil }
func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

// The lies, in turn.
const (
	cutsInside = iota
	refuses
	cutsAfterwards

	lies
)

var (
	errBusy = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Try again later"}
	errCut  = errors.New("the connection was cut")
)

func (s *mailSession) Data(from io.Reader) error {
	lie := -1
	s.mu.Lock()
	if s.lying {
		lie = s.lies % lies
		s.lies++
	}
	s.mu.Unlock()
	if lie == cutsInside {
		_, _ = io.CopyN(io.Discard, from, 200)
		return errors.Join(errCut, s.conn.Close())
	}
	read, err := letter.Read(from)
	if _, rest := io.Copy(io.Discard, from); err != nil || rest != nil {
		return errors.Join(err, rest)
	}
	if lie == refuses {
		return errBusy
	}
	s.mu.Lock()
	s.take(Mail{Letter: *read, To: s.to, Answered: lie < 0})
	s.mu.Unlock()
	if lie == cutsAfterwards {
		return errors.Join(errCut, s.conn.Close())
	}
	return nil
}
