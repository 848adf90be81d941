package judge

import (
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// sending is a message with when it was sent.
type sending struct {
	*history.Sent
	// sealed are all ciphertexts that were sent under the id.
	sealed []string
	// start is when the first attempt began that may have had an effect.
	start time.Duration
	// tried: an attempt may have had an effect.
	tried bool
	// success: an attempt succeeded. answered is the time of the first success, id the message's id in its answer.
	success  bool
	answered time.Duration
	id       string
	// process is the server that gave the answer.
	process string
}

// findSendings fills sendings and nonces with all messages that agents tried to send.
func (r *run) findSendings() {
	sent := make(map[[2]string]*sending)
	for i := range r.Sent {
		s := &r.Sent[i]
		key := [2]string{s.Sender, s.ClientMessageID}
		if sent[key] == nil {
			sent[key] = &sending{Sent: s}
		}
		sent[key].sealed = append(sent[key].sealed, s.Ciphertext)
	}
	for _, q := range r.requests {
		s := sent[[2]string{q.agent, q.id}]
		if q.operation() != history.MessageSend || s == nil {
			continue
		}
		s.start, s.tried = q.begun(), q.unknown() > 0
		if a := q.succeeded(); a != nil {
			s.tried, s.success, s.answered, s.id, s.process = true, true, a.End, got(a).Message.ID, a.Process
		}
	}
	r.sendings, r.nonces = sent, make(map[string][]*sending)
	for _, s := range sent {
		r.nonces[s.Nonce] = append(r.nonces[s.Nonce], s)
	}
}

// sending finds the message of a sender.
func (r *run) sending(sender, id string) *sending { return r.sendings[[2]string{sender, id}] }

func checkMessages(r *run, f *Finding) {
	for _, q := range r.requests {
		if q.operation() == history.MessageSend && r.sending(q.agent, q.id) == nil {
			f.violatedf("%s has no record of what was sent", q)
		}
	}
	for i := range r.Sent {
		s := r.sending(r.Sent[i].Sender, r.Sent[i].ClientMessageID)
		if !s.success {
			if s.tried {
				f.Excused++
			}
			continue
		}
		f.Looked++
		for _, list := range []string{s.Sender + "/" + s.Recipient, s.Recipient + "/" + s.Sender} {
			listed := 0
			for i := range r.Final.Messages[list] {
				m := &r.Final.Messages[list][i]
				if m.ID == s.id && m.ClientMessageID == s.ClientMessageID {
					listed++
				}
			}
			if listed != 1 {
				f.violatedf("message %s of %s was answered as %s, but is %d times in the list of %s",
					s.ClientMessageID, s.Sender, s.id, listed, list)
			}
		}
	}
	for _, list := range sorted(r.Final.Messages) {
		reader, peer, _ := strings.Cut(list, "/")
		checkList(r, f, reader, peer)
		same := slices.EqualFunc(r.Final.Messages[list], r.Final.Messages[peer+"/"+reader], func(a, b history.Message) bool {
			return a.ID == b.ID && a.Ciphertext == b.Ciphertext && a.SenderID == b.SenderID && a.ClientMessageID == b.ClientMessageID
		})
		if !same && reader < peer {
			f.violatedf("%s and %s list different messages, or in different order", reader, peer)
		}
	}
}

// checkList checks the messages that reader lists of its friendship with peer, oldest first.
func checkList(r *run, f *Finding, reader, peer string) {
	seen := make(map[[2]string]string)
	latest := make(map[string]*sending) // of each sender, the message listed so far that was begun last
	for i := range r.Final.Messages[reader+"/"+peer] {
		m := &r.Final.Messages[reader+"/"+peer][i]
		f.Looked++
		sender := r.handles[m.SenderID]
		key := [2]string{sender, m.ClientMessageID}
		s := r.sendings[key]
		recipient := reader
		if sender == reader {
			recipient = peer
		}
		if s == nil || s.Recipient != recipient {
			f.violatedf("%s/%s lists message %s of %q, which was never sent", reader, peer, m.ClientMessageID, sender)
			continue
		}
		if other, twice := seen[key]; twice {
			f.violatedf("%s/%s lists message %s of %s twice, as %s and %s", reader, peer, m.ClientMessageID, sender, other, m.ID)
		}
		seen[key] = m.ID
		if !slices.Contains(s.sealed, m.Ciphertext) {
			f.violatedf("%s/%s lists message %s of %s with another ciphertext", reader, peer, m.ClientMessageID, sender)
		}
		if m.Text != s.Text && (m.Text != "" || reader != sender) {
			f.violatedf("%s/%s: message %s of %s opens to %q instead of %q", reader, peer, m.ClientMessageID, sender, m.Text, s.Text)
		}
		if before := latest[sender]; before != nil && s.success && s.answered < before.start {
			f.violatedf("%s/%s lists message %s of %s after %s, which was sent later",
				reader, peer, m.ClientMessageID, sender, before.ClientMessageID)
		}
		if before := latest[sender]; before == nil || s.start > before.start {
			latest[sender] = s
		}
	}
}
