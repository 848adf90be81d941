package workload

import (
	"context"
	"time"
)

const (
	// guessPace is the mean time between two challenges of the agent that guesses.
	guessPace = 700 * time.Millisecond
	// guesses is how many wrong codes end a challenge (§4.1).
	guesses = 5
)

// newGuesser registers an agent that does nothing but guess codes.
func (w *Workload) newGuesser(ctx context.Context) (err error) {
	w.guesser, err = w.newAgent(ctx, "guesser")
	return err
}

// guess has an agent try to find out codes until ctx ends.
func (w *Workload) guess(ctx context.Context) {
	a := w.guesser
	for a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(guessPace))) && !a.owner.linked {
		a.owner.family = ""
		a.guessOut(ctx)
	}
}

// guessOut has the agent enter five wrong codes at once through all servers, which end the challenge, and then the right one.
func (a *Agent) guessOut(ctx context.Context) {
	w, o := a.w, &a.owner
	o.challenge = ""
	if !a.askForCode(ctx) {
		return
	}
	waiting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	mail, ok := w.mails.await(waiting, o.challenge)
	if !ok || !a.confirm(ctx, mail) {
		return
	}
	first := o.random.IntN(len(w.servers))
	var all []func()
	for digit := range guesses {
		wrong := []byte(mail.Code)
		wrong[5] = '0' + (wrong[5]-'0'+1+byte(digit))%10
		r := a.guess(string(wrong))
		r.server = w.servers[(first+digit)%len(w.servers)]
		all = append(all, func() { a.once(ctx, r) })
	}
	together(all...)
	a.verifyOwner(ctx)
}
