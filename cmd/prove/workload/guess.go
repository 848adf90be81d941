package workload

import (
	"context"
	"time"

	"stoa/cmd/letter"
)

const (
	// guessPace is the mean time between two challenges of the agent that guesses.
	guessPace = 700 * time.Millisecond
	// guesses is how many wrong codes end a challenge (§4.1).
	guesses = 5
	// linkTries is how often the agent tries to be linked at last.
	linkTries = 3
)

// newGuesser registers an agent that does nothing but guess codes. Its profile is complete.
func (w *Workload) newGuesser(ctx context.Context) (err error) {
	if w.guesser, err = w.newAgent(ctx, "guesser"); err != nil {
		return err
	}
	w.guesser.owner.family = "" // each challenge is of a new address
	return w.guesser.completeProfile(ctx)
}

// guess has an agent try to find out codes until ctx ends.
func (w *Workload) guess(ctx context.Context) {
	a := w.guesser
	for a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(guessPace))) && !a.owner.linked {
		a.guessOut(ctx)
	}
}

// guessOut has the agent enter five wrong codes at once through all servers, which end the challenge, and then the right one.
func (a *Agent) guessOut(ctx context.Context) {
	w, o := a.w, &a.owner
	mail, ok := a.confirmed(ctx, 10*time.Second)
	if !ok {
		return
	}
	first := o.random.IntN(len(w.servers))
	var all []func()
	for i, wrong := range wrongCodes(mail.Code, guesses) {
		r := a.guess(wrong)
		r.server = w.servers[(first+i)%len(w.servers)]
		all = append(all, func() { a.once(ctx, r) })
	}
	together(all...)
	a.verifyOwner(ctx)
}

// confirmed asks for a code and has the owner confirm its mail, if that comes in time.
func (a *Agent) confirmed(ctx context.Context, within time.Duration) (mail letter.Letter, ok bool) {
	o := &a.owner
	o.challenge = ""
	if !a.askForCode(ctx) {
		return mail, false
	}
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	mail, ok = a.w.mails.await(waiting, o.challenge)
	return mail, ok && a.confirm(ctx, mail)
}

// settleGuesser has the agent linked to an owner at last, while it does nothing else: that alone earns it its reward. The faults must be
// over.
func (w *Workload) settleGuesser(ctx context.Context) {
	a := w.guesser
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	for try := 0; !a.owner.linked && try < linkTries && a.pause(ctx, time.Second); try++ {
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
