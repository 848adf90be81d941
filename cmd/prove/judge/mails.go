package judge

import (
	"cmp"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

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
	before := 0
	for _, a := range r.by[history.OwnerRequest] {
		if a.Subject == asked.Subject && a != asked && a.Start < asked.End && mayHaveActed(a) {
			before++
		}
	}
	return before >= mailsOfAddress
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
