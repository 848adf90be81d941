package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// sending is a message with when it was sent.
type sending struct {
	sender, recipient, key, nonce string
	// sealed are all ciphertexts that were sent under the key.
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

// findSendings fills messages, sendings and nonces.
func (r *run) findSendings() {
	r.sendings, r.nonces = make(map[[2]string]*sending), make(map[string][]*sending)
	for _, a := range r.by[history.MessageSend] {
		s, sealed := r.sending(a.Agent, a.ID), sent(a)
		if s == nil {
			s = &sending{sender: a.Agent, recipient: a.Subject, key: a.ID}
			r.messages, r.sendings[[2]string{a.Agent, a.ID}] = append(r.messages, s), s
		}
		if a.Changed == "" {
			s.nonce = sealed.Nonce
		}
		if a.Changed != "ciphertext" { // which no key opens
			s.sealed = append(s.sealed, sealed.Ciphertext)
		}
	}
	for _, q := range r.requests {
		if q.operation() != history.MessageSend {
			continue
		}
		s := r.sending(q.agent, q.id)
		s.start, s.tried = q.begun(), q.isUnknown()
		if a := q.succeeded(); a != nil {
			s.tried, s.success, s.answered, s.id, s.process = true, true, a.End, got(a).Message.ID, a.Process
		}
	}
	for _, s := range r.messages {
		r.nonces[s.nonce] = append(r.nonces[s.nonce], s)
	}
}

func (r *run) sending(sender, key string) *sending { return r.sendings[[2]string{sender, key}] }

func checkMessages(r *run, f *Finding) {
	for _, s := range r.messages {
		if !s.success {
			if s.tried {
				f.Excused++
			}
			continue
		}
		f.Looked++
		for _, list := range []string{s.sender + "/" + s.recipient, s.recipient + "/" + s.sender} {
			listed := 0
			for i := range r.Final.Messages[list] {
				m := &r.Final.Messages[list][i]
				if m.ID == s.id && m.ClientMessageID == s.key {
					listed++
				}
			}
			if listed != 1 {
				f.violatedf("message %s of %s was answered as %s, but is %d times in the list of %s", s.key, s.sender, s.id, listed, list)
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
		if s == nil || s.recipient != recipient {
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
		if text := history.MessageText(sender, recipient, s.key); m.Text != text && (m.Text != "" || reader != sender) {
			f.violatedf("%s/%s: message %s of %s opens to %q instead of %q", reader, peer, m.ClientMessageID, sender, m.Text, text)
		}
		if before := latest[sender]; before != nil && s.success && s.answered < before.start {
			f.violatedf("%s/%s lists message %s of %s after %s, which was sent later", reader, peer, m.ClientMessageID, sender, before.key)
		}
		if before := latest[sender]; before == nil || s.start > before.start {
			latest[sender] = s
		}
	}
}

// checkReceipts judges both sides' receipts of each order (§12.5), as their own client has verified them.
func checkReceipts(r *run, f *Finding) {
	if r.Final.Receipts == nil {
		return // the run ended before they were read
	}
	for _, id := range sorted(r.orders) {
		o := r.orders[id].Order
		made, unsure := r.ratingsOf(id)
		for _, side := range o.sides() {
			f.Looked++
			agent := r.handles[side]
			got, there := r.Final.Receipts[agent+"/"+id]
			lacks := func(rating string) bool { return !slices.Contains(got.Ratings, rating) }
			switch {
			case there != (o.State == closed):
				f.violatedf("order %s is %s, and %s has a receipt: %t", id, o.State, agent, there)
			case !there:
			case got.Wrong != "":
				f.violatedf("the receipt of order %s for %s: %s", id, agent, got.Wrong)
			case got.Outcome != o.Outcome || got.OrderVersion != o.Version || got.TotalMinor != o.TotalMinor:
				f.violatedf("the receipt of order %s for %s says %+v", id, agent, got)
			case slices.ContainsFunc(made, lacks) || len(got.Ratings) > len(made)+unsure:
				f.violatedf("the receipt of order %s for %s has the ratings %v, and %v were made", id, agent, got.Ratings, made)
			}
		}
	}
}

// ratingsOf returns the ids of an order's answered ratings, and how many more there may be.
func (r *run) ratingsOf(order string) (ids []string, unsure int) {
	for _, q := range r.requests {
		switch a := q.succeeded(); {
		case q.operation() != history.OrderRate || q.attempts[0].Subject != order:
		case a != nil:
			ids = append(ids, got(a).Rating.ID)
		case q.isUnknown():
			unsure++
		}
	}
	return ids, unsure
}

const (
	// mailPrompt is how long a mail without a fault may take.
	mailPrompt = 10 * time.Second
	// mailSlack is how long after its wait a mail may be sent again: one of the servers checks the wait every few seconds, and
	// another takes over within 20 s.
	mailSlack = 25 * time.Second
	// mailCrash is how long a mail may take if its server died while sending it (docs/running.md), plus time for a busy machine.
	mailCrash = 140 * time.Second
	// challengeLife is how long the code of a mail is valid.
	challengeLife = 10 * time.Minute
	// repeatedWithin is how long after a mail was accepted a fault may cause a repeat: the server tries for 10 s to record that.
	repeatedWithin = 12 * time.Second
	// mailsOfAddress is how many challenges of an address are mailed in a day.
	mailsOfAddress = 10
)

// mailWaits are the waits after the first, second, … failed attempt at a mail (docs/running.md).
var mailWaits = []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// nextAttempt returns the longest wait of a mail that has failed for this long, with any number of attempts.
func nextAttempt(age time.Duration) time.Duration {
	for _, wait := range mailWaits {
		if age -= wait; age < 0 {
			return wait
		}
	}
	return mailWaits[len(mailWaits)-1]
}

// due returns when a request's mail must have been accepted: at once, or some time after the last fault that may have met it.
func (r *run) due(asked *history.Attempt) time.Duration {
	due := asked.End + mailPrompt
	for _, fault := range r.byStart {
		if fault.Start > due || fault.End+aftermath < asked.Start {
			continue
		}
		patience := nextAttempt(fault.End-asked.Start) + mailSlack
		if !fault.Mail {
			patience = max(patience, mailCrash)
		}
		due = max(due, fault.End+patience)
	}
	return due
}

// mayBeTooMany reports whether an address may have been requested too often to get a mail.
func (r *run) mayBeTooMany(asked *history.Attempt) bool {
	return count(r.by[history.OwnerRequest], func(a *history.Attempt) bool {
		return a.Subject == asked.Subject && a != asked && a.Start < asked.End && mayHaveActed(a)
	}) >= mailsOfAddress
}

// mayHaveAsked reports whether an address may have been named in a request without an answer.
func (r *run) mayHaveAsked(address string, before time.Duration) bool {
	return slices.ContainsFunc(r.by[history.OwnerRequest], func(a *history.Attempt) bool {
		return a.Subject == address && unknown(a) && a.Start <= before
	})
}

func checkMails(r *run, f *Finding) {
	taken := make(map[string][]*history.Mail) // by challenge
	for i := range r.Mails {
		m := &r.Mails[i]
		f.Looked++
		taken[m.Challenge] = append(taken[m.Challenge], m)
		asked := r.challenges[m.Challenge]
		switch {
		case asked != nil && asked.Subject != m.To:
			f.violatedf("the mail of %s went to %s at %s", Describe(asked), m.To, clock(m.At))
		case asked == nil && !r.mayHaveAsked(m.To, m.At):
			f.violatedf("%s got mail %s at %s, which nobody asked for", m.To, m.MessageID, clock(m.At))
		}
	}
	for _, challenge := range sorted(taken) {
		mails := taken[challenge]
		slices.SortStableFunc(mails, func(a, b *history.Mail) int { return cmp.Compare(a.At, b.At) })
		for i, m := range mails[1:] {
			before := mails[i]
			switch {
			case m.MessageID != before.MessageID:
				f.violatedf("challenge %s was mailed as %s at %s, and as %s at %s",
					challenge, before.MessageID, clock(before.At), m.MessageID, clock(m.At))
			case before.Answered && !r.met(before.At-aftermath, before.At+repeatedWithin, anyFault):
				f.violatedf("mail %s was taken at %s, and again at %s, without a fault", m.MessageID, clock(before.At), clock(m.At))
			}
		}
	}
	for _, challenge := range sorted(r.challenges) {
		f.Looked++
		asked := r.challenges[challenge]
		due := r.due(asked)
		switch {
		case len(taken[challenge]) > 0 && taken[challenge][0].At <= due:
		case due > r.Length, r.mayHaveReplaced(asked, due) && len(taken[challenge]) == 0:
			f.Excused++
		case due > asked.Start+challengeLife, r.mayHaveReplaced(asked, due), r.mayBeTooMany(asked):
		case len(taken[challenge]) > 0:
			f.violatedf("the mail of %s was taken at %s, and was due at %s", Describe(asked), clock(taken[challenge][0].At), clock(due))
		default:
			f.violatedf("the mail of %s was never taken, and was due at %s", Describe(asked), clock(due))
		}
	}
}
