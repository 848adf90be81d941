package workload

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"stoa/cmd/letter"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

const (
	// ownerPace is the mean time between an agent's challenges; slowPace is the same for agents with an owner.
	ownerPace = 3 * time.Second
	slowPace  = 10 * time.Second
	// familyBeat is the interval at which the agents of a family enter their codes, all at the same time.
	familyBeat = 4 * time.Second
	// familyTries is how often an agent names the address of its family: an address gets ten mails a day.
	familyTries = 2
	// challengeLife is how long a code is valid. mailLook is the time between two looks for its mail.
	challengeLife = 10 * time.Minute
	mailLook      = 50 * time.Millisecond
	// rewardWithin is how long a reward may take after the faults are over.
	rewardWithin = 45 * time.Second
	// mailTimeout is how long a mail may take after the faults are over. A mail that has failed for a long time waits half as
	// long again.
	mailTimeout = 3 * time.Minute
)

// The first four of eight agents are a family: they name one address, which may have three agents (§4.1). The others, and agents
// that found the address full, name new addresses and mostly enter no code.
const (
	generation = 8
	family     = 4
	// The others enter the code of one in entersOneOf challenges.
	entersOneOf = 24
)

// mailbox holds the mails of all owners by their challenges.
type mailbox struct {
	mu      sync.Mutex
	letters map[string]letter.Letter
}

// await waits for the mail about a challenge; ok is false if ctx ended first.
func (m *mailbox) await(ctx context.Context, challenge string) (l letter.Letter, ok bool) {
	_ = testbed.Await(ctx, mailLook, challengeLife, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		l, ok = m.letters[challenge]
		return ok
	})
	return l, ok
}

// receive records a mail. It is the function for testbed.MailServer.Notify.
func (w *Workload) receive(m testbed.Mail) {
	challenge, _, _ := strings.Cut(strings.TrimPrefix(w.pageOf(m.Letter), "/owner/confirm/"), "/")
	taken := history.Mail{At: w.Recorder.Now(), To: m.To, MessageID: m.MessageID, Challenge: challenge, Answered: m.Answered}
	w.Recorder.Record(func(h *history.History) { h.Mails = append(h.Mails, taken) })
	w.mails.mu.Lock()
	defer w.mails.mu.Unlock()
	w.mails.letters[challenge] = m.Letter
}

// pageOf returns the path of the page that a mail links to.
func (w *Workload) pageOf(l letter.Letter) string { return strings.TrimPrefix(l.Link, w.url) }

// owner is an agent's knowledge of its owner. It belongs to seekOwner and settleOwner.
type owner struct {
	number int
	random *mathrand.Rand
	// family is the family's address while it may still become the owner's; tries is how often it was named.
	family string
	tries  int
	// others counts the agent's other addresses.
	others int
	// challenge is the last answered one, requested at asked for address, and not replaced since. Once the agent is linked, it is
	// the verified one.
	challenge, address string
	asked              time.Time
	linked             bool
}

func newOwner(w *Workload, number int) owner {
	o := owner{number: number, random: w.random(1<<32 + uint64(number)), asked: time.Now()}
	if number%generation < family {
		o.family = fmt.Sprintf("owner@family-%d.example", number/generation)
	}
	return o
}

func (o *owner) pause() time.Duration {
	mean := ownerPace
	if o.linked {
		mean = slowPace
	}
	return time.Duration(o.random.ExpFloat64() * float64(mean))
}

// next returns the next address to name.
func (o *owner) next() string {
	if o.family != "" && o.tries < familyTries && (o.tries > 0 || o.random.IntN(3) > 0) {
		o.tries++
		return o.family
	}
	o.others++
	return fmt.Sprintf("owner@agent-%d-%d.example", o.number, o.others)
}

// seekOwner links the agent to its owner (§4.1), until ctx ends. It runs beside act and listen.
func (a *Agent) seekOwner(ctx context.Context) {
	o := &a.owner
	for pause(ctx, o.pause()) {
		switch {
		case o.linked && o.random.IntN(2) == 0:
			a.verifyOwner(ctx) // it gets the stored answer
		case !a.askForCode(ctx):
		case o.address == o.family:
			a.followMail(ctx, true)
		case o.random.IntN(4) > 0: // otherwise it changes its mind
			a.followMail(ctx, o.random.IntN(entersOneOf) == 0)
		}
	}
}

// settleOwner finishes pending steps: the awaited mails, the family's address, and the reward. The faults must be over.
func (a *Agent) settleOwner(ctx context.Context) {
	o := &a.owner
	ctx, cancel := context.WithTimeout(ctx, max(mailTimeout, time.Since(o.asked)*3/2))
	defer cancel()
	if a.w.mayBeLost(time.Since(o.asked)) {
		o.challenge = ""
	}
	if o.challenge != "" && !o.linked {
		a.followMail(ctx, o.address == o.family || o.number%2 == 0)
	}
	for !o.linked && o.family != "" && o.tries < familyTries {
		if a.askForCode(ctx) {
			a.followMail(ctx, o.address == o.family)
		}
	}
	a.awaitReward(ctx)
}

// awaitReward waits until every earned reward is paid. The judge checks it again.
func (a *Agent) awaitReward(ctx context.Context) {
	_ = testbed.Await(ctx, time.Second, rewardWithin, func() bool {
		var card struct {
			Rewards struct {
				Grounds []struct {
					Status  string
					Missing []string
				}
			}
		}
		_ = a.once(ctx, a.onboarding()).into(&card) // without an answer none is due
		due := false
		for _, ground := range card.Rewards.Grounds {
			due = due || ground.Status == "available" && len(ground.Missing) == 0
		}
		return !due
	})
}

func (a *Agent) onboarding() request { return request{operation: "onboarding.get", subject: a.Handle} }

// askForCode requests a challenge, only once: a repeat would be another challenge.
func (a *Agent) askForCode(ctx context.Context) (asked bool) {
	o := &a.owner
	address := o.next()
	got := a.once(ctx, request{operation: history.OwnerRequest, subject: address, part: "/bots/me/owner-", body: members{"email": address}})
	switch challenge := got.text("challenge_id"); {
	case challenge != "":
		o.challenge, o.address, o.asked = challenge, address, time.Now()
		return true
	case o.linked:
	case got.Code == "state_conflict": // the address is full
		o.family = ""
	case !got.final(): // it may have replaced the earlier challenge
		o.challenge = ""
	}
	return false
}

// followMail waits for the mail of the current challenge and makes the owner follow it. The agent enters the code only if enters
// is set. It may try wrong codes, and the right one too early.
func (a *Agent) followMail(ctx context.Context, enters bool) {
	o := &a.owner
	waiting, cancel := context.WithDeadline(ctx, o.asked.Add(challengeLife))
	defer cancel()
	mail, ok := a.w.mails.await(waiting, o.challenge)
	if !ok {
		return
	}
	if o.random.IntN(3) == 0 {
		for _, wrong := range wrongCodes(mail.Code, 1+o.random.IntN(2)) {
			a.once(ctx, a.code(history.OwnerGuess, wrong))
		}
	}
	if enters && o.random.IntN(4) == 0 {
		a.verifyOwner(ctx)
	}
	if !a.confirm(ctx, mail) || !enters {
		return
	}
	if o.address == o.family {
		now := a.w.Recorder.Now()
		pause(ctx, now.Truncate(familyBeat)+familyBeat-now)
	}
	// The profile changes twice meanwhile: each of the three requests may find that the agent has earned a reward.
	var got answer
	change := func() {
		r := a.profile(newBio())
		r.server, _ = a.twoServers()
		a.once(ctx, r)
	}
	together(func() { got = a.verifyOwner(ctx) }, change, change)
	if got.Code == "state_conflict" {
		o.family = "" // the address is full
	}
}

func (a *Agent) code(operation, code string) request {
	return request{operation: operation, subject: a.owner.challenge, body: members{"challenge_id": a.owner.challenge, "code": code}}
}

func (a *Agent) verifyOwner(ctx context.Context) (got answer) {
	o := &a.owner
	if mail, ok := a.w.mails.await(ctx, o.challenge); ok {
		r := a.code(history.OwnerVerify, mail.Code)
		r.id, r.subject = o.challenge, o.address
		got, _ = a.repeat(ctx, r)
		o.linked = o.linked || got.Succeeded()
	}
	return got
}

// confirm acts as the owner with a mail's link: it opens the page and sends its form.
func (a *Agent) confirm(ctx context.Context, mail letter.Letter) (confirmed bool) {
	r := request{operation: history.OwnerOpen, subject: a.owner.challenge, part: a.w.pageOf(mail)}
	page, _ := a.repeat(ctx, r)
	if !page.Succeeded() {
		return false
	}
	r.operation = history.OwnerConfirm
	r.body = form{[]byte(letter.Form(string(page.Body)).Encode()), "application/x-www-form-urlencoded"}
	got, _ := a.repeat(ctx, r)
	return got.Succeeded()
}

const (
	// guessPace is the mean time between two challenges of the agent that guesses.
	guessPace = 700 * time.Millisecond
	// guesses is how many wrong codes end a challenge (§4.1).
	guesses = 5
	// linkTries is how often the agent finally tries to be linked.
	linkTries = 3
)

// newGuesser registers an agent that only guesses codes. Its profile is complete.
func (w *Workload) newGuesser(ctx context.Context) (err error) {
	if w.guesser, err = w.newAgent(ctx, "guesser"); err != nil {
		return err
	}
	w.guesser.owner.family = "" // each challenge has a new address
	return w.guesser.completeProfile(ctx)
}

// guess makes an agent guess codes through all servers, until ctx ends or it is linked: it enters five wrong codes at once, which
// end the challenge, and then the right one.
func (w *Workload) guess(ctx context.Context) {
	a := w.guesser
	regularly(ctx, a.random, guessPace, func() {
		if a.owner.linked {
			return
		}
		mail, ok := a.confirmed(ctx, 10*time.Second)
		if !ok {
			return
		}
		var all []moving
		for _, wrong := range wrongCodes(mail.Code, guesses) {
			all = append(all, moving{a, a.code(history.OwnerGuess, wrong)})
		}
		w.atOnce(ctx, a.owner.random.IntN(len(w.servers)), all...)
		a.verifyOwner(ctx)
	})
}

// confirmed requests a code and makes the owner confirm its mail, if the mail comes in time.
func (a *Agent) confirmed(ctx context.Context, within time.Duration) (mail letter.Letter, ok bool) {
	a.owner.challenge = ""
	if !a.askForCode(ctx) {
		return mail, false
	}
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	mail, ok = a.w.mails.await(waiting, a.owner.challenge)
	return mail, ok && a.confirm(ctx, mail)
}

// settleGuesser finally links the agent to an owner, while the agent does nothing else: only this earns its reward. The faults
// must be over.
func (w *Workload) settleGuesser(ctx context.Context) {
	a := w.guesser
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	for try := 0; !a.owner.linked && try < linkTries && pause(ctx, time.Second); try++ {
		if _, ok := a.confirmed(ctx, mailTimeout); ok {
			a.verifyOwner(ctx)
		}
	}
	a.awaitReward(ctx)
}

// wrongCodes returns up to nine different codes that differ from the right one in the last digit.
func wrongCodes(right string, count int) []string {
	codes := make([]string, count)
	last := len(right) - 1
	for i := range codes {
		codes[i] = right[:last] + string('0'+(right[last]-'0'+1+byte(i))%10)
	}
	return codes
}
