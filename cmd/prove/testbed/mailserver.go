package testbed

import (
	"bytes"
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

// Defect is something that is wrong with the mail server.
type Defect int

// The defects.
const (
	// MailDead: it refuses connections, and those that it had are cut.
	MailDead Defect = iota
	// MailSlow: each of its answers takes one to six seconds, those of one connection equally long.
	MailSlow
	// MailLying: by turns it cuts the connection in the middle of a mail, answers 451 to a whole one, and takes one but cuts the
	// connection before it says so.
	MailLying

	defects
)

// Mail is a mail that the mail server has taken.
type Mail struct {
	letter.Letter

	To string
	// Answered says that the mail was confirmed to the sender; otherwise the connection was cut before.
	Answered bool
}

// MailServer takes the mails of all servers. Its methods may be called from any goroutine.
type MailServer struct {
	Address string

	mu sync.Mutex
	// lifted is nil for each defect that it has not, and closed when the defect is lifted.
	lifted   [defects]chan struct{}
	listener net.Listener
	server   *smtp.Server
	// done is closed when server has ended.
	done chan struct{}
	take func(Mail)
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

// Notify has take called with every mail from now on, before its sender gets an answer.
func (m *MailServer) Notify(take func(Mail)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take = take
}

// Break gives it a defect, besides those that it has.
func (m *MailServer) Break(d Defect) {
	m.mu.Lock()
	m.lifted[d] = make(chan struct{})
	m.mu.Unlock()
	if d == MailDead {
		m.close()
	}
}

// Mend lifts a defect. Answers that waited for their time are given at once.
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

// has returns a channel that is closed when a defect is lifted, or nil.
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
	m.listener, m.server, m.done = listener, smtp.NewServer(m), make(chan struct{})
	m.server.Domain, m.server.ErrorLog = "mail.example", log.New(io.Discard, "", 0)
	go func(server *smtp.Server, done chan struct{}) {
		defer close(done)
		_ = server.Serve(&mailListener{listener, m}) // it ends with close
	}(m.server, m.done)
	return nil
}

func (m *MailServer) close() {
	m.mu.Lock()
	listener, server, done := m.listener, m.server, m.done
	m.mu.Unlock()
	_, _ = listener.Close(), server.Close() // they may be closed already
	<-done
}

// NewSession implements smtp.Backend.
func (m *MailServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &mailSession{server: m, conn: c.Conn()}, nil
}

// mailSession is the session of one connection.
type mailSession struct {
	server *MailServer
	conn   net.Conn
	to     string
}

func (s *mailSession) Reset()                               {}
func (s *mailSession) Logout() error                        { return nil }
func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

var (
	errBusy = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Try again later"}
	errCut  = errors.New("the connection was cut")
)

func (s *mailSession) Data(from io.Reader) error {
	lie := -1
	if s.server.has(MailLying) != nil {
		s.server.mu.Lock()
		lie = s.server.lies % 3
		s.server.lies++
		s.server.mu.Unlock()
	}
	if lie == 0 {
		_, _ = io.CopyN(io.Discard, from, 200)
		return errors.Join(errCut, s.conn.Close())
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	if lie == 1 {
		return errBusy
	}
	read, err := letter.Read(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	s.server.take(Mail{Letter: *read, To: s.to, Answered: lie < 0})
	s.server.mu.Unlock()
	if lie == 2 {
		return errors.Join(errCut, s.conn.Close())
	}
	return nil
}

// mailListener and mailConn delay the answers of a server that is slow.
type mailListener struct {
	net.Listener

	server *MailServer
}

// Accept implements net.Listener.
func (l *mailListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.server.connections++
	return &mailConn{Conn: conn, server: l.server, delay: time.Duration(1+l.server.connections%6) * time.Second, owes: true}, nil
}

type mailConn struct {
	net.Conn

	server *MailServer
	delay  time.Duration
	// owes says that nothing was answered since the client's last command.
	owes bool
}

// Read implements net.Conn.
func (c *mailConn) Read(into []byte) (int, error) {
	c.owes = true
	return c.Conn.Read(into)
}

// Write implements net.Conn.
func (c *mailConn) Write(answer []byte) (int, error) {
	if lifted := c.server.has(MailSlow); lifted != nil && c.owes {
		select {
		case <-lifted:
		case <-time.After(c.delay):
		}
	}
	c.owes = false
	return c.Conn.Write(answer)
}
