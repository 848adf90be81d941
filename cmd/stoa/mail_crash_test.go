package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/mail"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// mailServer counts the messages that it accepts, by their Message-ID.
type mailServer struct {
	mu       sync.Mutex
	accepted map[string]int
}

func (s *mailServer) NewSession(*smtp.Conn) (smtp.Session, error) { return mailSession{s}, nil }

func (s *mailServer) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.accepted)
}

type mailSession struct{ *mailServer }

func (mailSession) Reset()                               {}
func (mailSession) Logout() error                        { return nil }
func (mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s mailSession) Data(from io.Reader) error {
	message, err := mail.ReadMessage(from)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, message.Body); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted[message.Header.Get("Message-ID")]++
	return nil
}

// A server that is killed while it sends mails loses none: at most those being sent are sent twice, under the same Message-ID.
func TestKilledServerLosesNoMail(t *testing.T) {
	t.Parallel()
	const mails, workers = 80, 4
	sink := &mailServer{accepted: make(map[string]int)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := smtp.NewServer(sink)
	server.ErrorLog = log.New(io.Discard, "", 0)
	go func() { _ = server.Serve(listener) }() // it ends with Close
	t.Cleanup(func() { _ = server.Close() })

	w := graphtest.New(t)
	w.Exec(`INSERT INTO mails (id, created_at, kind, address, address_hint, claimed_until)
		SELECT gen_random_uuid(), now(), 'test', 'ada@example.org', 'a***@example.org', now() FROM generate_series(1, $1)`, mails)
	settings := []string{
		"STOA_DATABASE_URL=" + w.URL, "STOA_SMTP_URL=smtp://" + listener.Addr().String(), "STOA_MAIL_FROM=stoa@stoa.example",
	}
	first := startServer(t, settings...)
	require.Eventually(t, func() bool { return len(sink.counts()) >= mails/10 }, slack.TestWait, time.Millisecond)
	first.kill(w)
	t.Logf("killed after %d mails", len(sink.counts()))
	startServer(t, settings...)
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM mails WHERE sent_at IS NULL") == 0 }, "mails are not sent")
	counts := sink.counts()
	require.Len(t, counts, mails)
	repeated := 0
	for id, n := range counts {
		require.LessOrEqual(t, n, 2, id)
		repeated += n - 1
	}
	require.LessOrEqual(t, repeated, workers, fmt.Sprint(counts))
}
