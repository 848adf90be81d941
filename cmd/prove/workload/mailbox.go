package workload

import (
	"context"
	"strings"
	"sync"

	"stoa/cmd/letter"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// mailbox holds the mails that all owners have received, by the mail's challenge.
type mailbox struct {
	mu      sync.Mutex
	letters map[string]letter.Letter
	// arrived is closed with the next mail.
	arrived chan struct{}
}

func newMailbox() *mailbox {
	return &mailbox{letters: make(map[string]letter.Letter), arrived: make(chan struct{})}
}

// receive records a mail. It implements the function of testbed.MailServer.Notify.
func (w *Workload) receive(m testbed.Mail) {
	challenge, _, _ := strings.Cut(strings.TrimPrefix(w.pageOf(m.Letter), "/owner/confirm/"), "/")
	taken := history.Mail{At: w.Recorder.Now(), To: m.To, MessageID: m.MessageID, Challenge: challenge, Answered: m.Answered}
	w.Recorder.Record(func(h *history.History) { h.Mails = append(h.Mails, taken) })
	w.mails.mu.Lock()
	defer w.mails.mu.Unlock()
	w.mails.letters[challenge] = m.Letter
	close(w.mails.arrived)
	w.mails.arrived = make(chan struct{})
}

// pageOf is the path of the page that a mail leads to.
func (w *Workload) pageOf(l letter.Letter) string { return strings.TrimPrefix(l.Link, w.url) }

// await waits for the mail about a challenge; ok is false where ctx ended first.
func (m *mailbox) await(ctx context.Context, challenge string) (l letter.Letter, ok bool) {
	for {
		m.mu.Lock()
		l, ok = m.letters[challenge]
		arrived := m.arrived
		m.mu.Unlock()
		if ok {
			return l, true
		}
		select {
		case <-ctx.Done():
			return l, false
		case <-arrived:
		}
	}
}
