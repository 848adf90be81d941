package workload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/prove/history"
)

const (
	// socketWithin is how long a socket may outlive its token: a second (§6), plus time for a busy machine.
	socketWithin = 15 * time.Second
	// mailWithin is how long the mail of a registration may take.
	mailWithin = time.Minute
	// rotationPace is the mean time between two changes of a token.
	rotationPace = 3 * time.Second
	// earners is how many agents are confirmed by their owners before their registration: they earn a reward as soon as their
	// profile is complete. grants is how often each server grants due rewards.
	earners = 4
	grants  = 6
)

// newSpares registers agents with the proof of an owner, before the faults: one that changes its token, one that has a webhook,
// and the earners.
func (w *Workload) newSpares(ctx context.Context) error {
	if err := w.bed.UpdateSettings(ctx, members{"emailGateEnabled": true}); err != nil {
		return err
	}
	handles := []string{"spare_rotating", "spare_hooked"}
	for i := range earners {
		handles = append(handles, fmt.Sprintf("earner_%d", i))
	}
	for _, handle := range handles {
		a, err := w.newProven(ctx, handle)
		if err != nil {
			return err
		}
		w.spares = append(w.spares, a)
	}
	return errors.Join(w.bed.UpdateSettings(ctx, members{"emailGateEnabled": false}), w.spares[0].reissue(ctx))
}

// newProven registers an agent whose owner has confirmed its address: twice at the same time, once more, and with another name.
func (w *Workload) newProven(ctx context.Context, handle string) (*Agent, error) {
	a := w.candidate(handle)
	address := "owner@" + strings.ReplaceAll(handle, "_", "-") + ".example" // agents see only the first letter and the domain
	got, err := a.need(ctx, request{operation: history.OwnerRequest, subject: address, part: "/registration/",
		body: members{"email": address, "handle": handle, "encryption_public_key": a.keys.Public()}}, nil)
	if err != nil {
		return nil, err
	}
	challenge := got.text("challenge_id")
	a.owner.challenge, a.owner.address, a.owner.asked, a.owner.linked = challenge, address, time.Now(), true
	waiting, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	mail, ok := w.mails.await(waiting, challenge)
	if !ok || !a.confirm(ctx, mail) {
		return nil, fmt.Errorf("%s cannot be confirmed by its owner", handle)
	}
	r := a.code(history.RegistrationVerify, mail.Code)
	r.subject = address
	if got, err = a.need(ctx, r, nil); err != nil {
		return nil, err
	}
	r = a.registration()
	r.id, r.body = handle, members{"handle": handle, "display_name": handle, "encryption_public_key": a.keys.Public(),
		"owner_challenge_id": challenge, "owner_verification_token": got.text("verification_token")}
	one, _ := a.pair(ctx, r, r)
	changed, _ := r.differing()
	a.pair(ctx, r, changed)
	return a, a.adopt(one)
}

// earn completes the profiles of the earners while rewards are off. Then it switches rewards on, and at that moment all servers
// grant due rewards.
func (w *Workload) earn(ctx context.Context) error {
	if err := w.bed.UpdateSettings(ctx, members{"rewardsEnabled": false}); err != nil {
		return err
	}
	all := w.spares[len(w.spares)-earners:]
	for _, a := range all {
		if err := a.completeProfile(ctx); err != nil {
			return err
		}
	}
	var granting errgroup.Group
	granting.Go(func() error { return w.bed.GrantRewards(ctx, grants) })
	granting.Go(func() error { return w.bed.UpdateSettings(ctx, members{"rewardsEnabled": true}) })
	return granting.Wait()
}

// aboutToken names the agent's token of that number for the history.
func (a *Agent) aboutToken(operation string, number int) request {
	return request{operation: operation, subject: a.Handle, of: fmt.Sprintf("token %d", number)}
}

// observed records something about a token that is no request.
func (a *Agent) observed(operation string, number int, start time.Duration, status int) {
	r := a.aboutToken(operation, number)
	a.w.record(history.Attempt{Agent: a.Handle, Operation: operation, Subject: r.subject, Of: r.of, Start: start,
		End: a.w.Recorder.Now(), Status: status})
}

func (a *Agent) tryToken(ctx context.Context, token string, number int, server string) answer {
	r := a.aboutToken(history.TokenUse, number)
	r.token, r.server = token, server
	return a.once(ctx, r)
}

// reissue makes an operator replace the agent's token, waits until a socket of the old token ends, and tries both on all servers.
func (a *Agent) reissue(ctx context.Context) error {
	old := a.bearer()
	c, err := a.connect(ctx, "", latestEvents)
	if err != nil {
		return err
	}
	start := a.w.Recorder.Now()
	next, err := a.w.bed.ReissueToken(ctx, a.ID)
	if err != nil {
		return err
	}
	a.observed(history.TokenReissue, a.tokens, start, http.StatusOK)
	a.renew(ctx, old, next)
	a.tryOut(c, a.tokens-1)
	return nil
}

// renew switches to a new token, if there is one, and tries the old and the new one on all servers.
func (a *Agent) renew(ctx context.Context, old, next string) {
	a.tokens++
	a.mu.Lock()
	a.token = next
	a.mu.Unlock()
	for _, server := range a.w.servers {
		a.tryToken(ctx, old, a.tokens-1, server)
		if next != "" {
			a.tryToken(ctx, next, a.tokens, server)
		}
	}
}

// tryOut waits until a socket of an ended token ends.
func (a *Agent) tryOut(c *connection, number int) {
	start, until := a.w.Recorder.Now(), time.Now().Add(socketWithin)
	var err error
	for err == nil {
		_, err = c.next(until)
	}
	_ = c.Close()
	status := http.StatusUnauthorized
	if timedOut(err) {
		status = http.StatusOK
	}
	a.observed(history.TokenSocket, number, start, status)
}

// rotate repeatedly changes an agent's token until ctx ends, except while a restore may undo it. It stops if the new token was
// lost with an answer.
func (w *Workload) rotate(ctx context.Context) {
	a := w.spares[0]
	regularly(ctx, a.random, rotationPace, func() {
		if a.bearer() != "" && w.lasting.TryLock() {
			defer w.lasting.Unlock()
			a.rotateOnce(ctx)
		}
	})
}

// rotateOnce changes the token twice at the same time, and tries the old and the new one on all servers.
func (a *Agent) rotateOnce(ctx context.Context) {
	old := a.bearer()
	c, unconnected := a.connect(ctx, "", latestEvents)
	if unconnected == nil {
		defer c.Close() //nolint:errcheck // it has ended by then
	}
	r := a.aboutToken(history.TokenRotate, a.tokens)
	next, failed := "", false
	one, other := a.pair(ctx, r, r)
	for _, got := range []answer{one, other} {
		if token := got.text("token"); token != "" {
			next = token
		}
		failed = failed || got.Status == history.Unanswered || got.Status >= http.StatusInternalServerError
	}
	if next == "" && (!failed || a.tryToken(ctx, old, a.tokens, "").Succeeded()) {
		return // a limit refused it, or it was not rotated
	}
	a.renew(ctx, old, next)
	if next != "" && unconnected == nil {
		a.tryOut(c, a.tokens-1)
	}
}

// revoke ends the token of the rotating agent, and tries it on all servers.
func (w *Workload) revoke(ctx context.Context) {
	a := w.spares[0]
	if token := a.bearer(); token != "" {
		a.once(ctx, a.aboutToken(history.TokenRevoke, a.tokens))
		a.renew(ctx, token, "")
	}
}
