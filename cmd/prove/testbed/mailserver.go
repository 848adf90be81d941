package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"stoa/cmd/letter"
)

// Defect is a defect of the mail server.
type Defect int

// The defects.
const (
	// MailDead: it refuses connections, and cuts open ones.
	MailDead Defect = iota
	// MailSlow: each step of a mail takes one to six seconds, the same time for all steps of a connection.
	MailSlow
	// MailLying: in turn, it cuts the connection in the middle of a mail, answers 451 to a whole mail, and accepts a mail but
	// cuts the connection before it confirms that.
	MailLying

	defects
)

// Mail is a mail that the mail server has accepted.
type Mail struct {
	letter.Letter

	To string
	// Answered: the sender got the confirmation; otherwise the connection was cut before it.
	Answered bool
}

// MailServer accepts the mails of all servers. Its methods may be called from any goroutine.
type MailServer struct {
	Address string

	mu sync.Mutex
	// lifted is nil for each absent defect; it is closed when a present defect is lifted.
	lifted   [defects]chan struct{}
	listener net.Listener
	server   *smtp.Server
	take     func(Mail)
	// connections and lies count, to take turns.
	connections, lies int
}

func newMailServer() (m *MailServer, err error) {
	m = &MailServer{take: func(Mail) {}}
	if m.Address, err = freeAddress(); err != nil {
		return nil, err
	}
	return m, m.listen()
}

// Notify makes the server call take with every mail from now on, before its sender gets an answer.
func (m *MailServer) Notify(take func(Mail)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take = take
}

// Break adds a defect to the present ones.
func (m *MailServer) Break(d Defect) {
	m.mu.Lock()
	m.lifted[d] = make(chan struct{})
	m.mu.Unlock()
	if d == MailDead {
		m.close()
	}
}

// Mend lifts a defect. Delayed answers are sent at once.
func (m *MailServer) Mend(d Defect) error {
	m.mu.Lock()
	close(m.lifted[d])
	m.lifted[d] = nil
	m.mu.Unlock()
	if d == MailDead {
		return m.listen()
	}
	return nil
}

// has returns a channel that is closed when a defect is lifted; nil if the server does not have it.
func (m *MailServer) has(d Defect) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lifted[d]
}

func (m *MailServer) listen() error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", m.Address)
	if err != nil {
		return fmt.Errorf("the mail server: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listener, m.server = listener, smtp.NewServer(smtp.BackendFunc(m.newSession))
	m.server.Domain, m.server.ErrorLog = "mail.example", log.New(io.Discard, "", 0)
	go func(server *smtp.Server) { _ = server.Serve(listener) }(m.server) // it ends with close
	return nil
}

func (m *MailServer) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = m.listener.Close(), m.server.Close() // they may be closed already
}

// newSession is called for the first command of a connection.
func (m *MailServer) newSession(c *smtp.Conn) (smtp.Session, error) {
	m.mu.Lock()
	m.connections++
	s := &mailSession{MailServer: m, conn: c.Conn(), delay: time.Duration(1+m.connections%6) * time.Second}
	m.mu.Unlock()
	return s, s.step()
}

// mailSession is the session of one connection.
type mailSession struct {
	*MailServer

	conn  net.Conn
	delay time.Duration
	to    string
}

// step waits if the server is slow.
func (s *mailSession) step() error {
	if lifted := s.has(MailSlow); lifted != nil {
		select {
		case <-lifted:
		case <-time.After(s.delay):
		}
	}
	return nil
}

func (s *mailSession) Reset()                               {}
func (s *mailSession) Logout() error                        { return nil }
func (s *mailSession) Mail(string, *smtp.MailOptions) error { return s.step() }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return s.step()
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
	if s.lifted[MailLying] != nil {
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
	return s.step()
}
