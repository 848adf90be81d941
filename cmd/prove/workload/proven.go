package workload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// newSpares registers some agents with the proof of an owner, each several times, before there are faults.
func (w *Workload) newSpares(ctx context.Context) error {
	if err := w.bed.RequireOwners(ctx, true); err != nil {
		return err
	}
	for _, handle := range append([]string{rotating, hooked}, earners...) {
		a, err := w.newProven(ctx, handle)
		if err != nil {
			return err
		}
		w.spares = append(w.spares, a)
	}
	return errors.Join(w.bed.RequireOwners(ctx, false), w.spares[0].reissue(ctx))
}

// reissue has an operator replace the agent's token, waits for the end of a socket of the old one, and tries both on all servers.
func (a *Agent) reissue(ctx context.Context) error {
	old := a.bearer()
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	recorded := history.Attempt{Agent: a.Handle, Operation: history.TokenReissue, Subject: a.Handle, Of: tokenName(a.tokens), Start: a.w.Recorder.Now()}
	next, err := a.w.bed.ReissueToken(ctx, a.ID)
	if err != nil {
		return err
	}
	recorded.End, recorded.Status = a.w.Recorder.Now(), http.StatusOK
	a.w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
	a.renew(ctx, old, next)
	a.tryOut(c, a.tokens-1)
	return nil
}

// renew takes a new token, if it has one, and tries the old and the new one on all servers.
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

// socketWithin is how long a socket may outlive its token: a second (§6), and what a busy machine takes.
const socketWithin = 15 * time.Second

// tryOut waits until a socket ends whose token has ended.
func (a *Agent) tryOut(c *connection, number int) {
	recorded := history.Attempt{Agent: a.Handle, Operation: history.TokenSocket, Subject: a.Handle, Of: tokenName(number), Start: a.w.Recorder.Now()}
	until := time.Now().Add(socketWithin)
	var err error
	for err == nil {
		_, err = c.next(until)
	}
	_ = c.Close()
	recorded.End, recorded.Status = a.w.Recorder.Now(), http.StatusUnauthorized
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // as gorilla returns it
		recorded.Status = http.StatusOK
	}
	a.w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
}

// The handles of the agent that changes its token and of the one that has a webhook.
const (
	rotating = "spare_rotating"
	hooked   = "spare_hooked"
)

// newProven registers an agent whose owner has confirmed its address: twice at the same moment, once more, and with another name.
func (w *Workload) newProven(ctx context.Context, handle string) (*Agent, error) {
	const mailWithin = time.Minute
	a, err := w.candidate(handle)
	if err != nil {
		return nil, err
	}
	address := "owner@" + strings.ReplaceAll(handle, "_", "-") + ".example" // agents see the first letter and the domain only
	got := a.once(ctx, request{operation: history.OwnerRequest, subject: address, method: http.MethodPost, path: "/registration/email/request",
		body: map[string]string{"email": address, "handle": handle, "encryption_public_key": a.key()}, keep: true})
	var asked struct {
		ChallengeID string `json:"challenge_id"`
	}
	if !got.succeeded() || got.into(&asked) != nil {
		return nil, fmt.Errorf("%s cannot ask for a proof: %d %s", handle, got.status, got.body)
	}
	a.owner.challenge, a.owner.address, a.owner.asked = asked.ChallengeID, address, time.Now()
	waiting, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	mail, ok := w.mails.await(waiting, asked.ChallengeID)
	if !ok || !a.confirm(ctx, mail) {
		return nil, fmt.Errorf("%s cannot be confirmed by its owner", handle)
	}
	got = a.once(ctx, request{operation: history.RegistrationVerify, subject: address, method: http.MethodPost, path: "/registration/email/verify",
		body: map[string]string{"challenge_id": asked.ChallengeID, "code": mail.Code}})
	var proof struct {
		Token string `json:"verification_token"`
	}
	if !got.succeeded() || got.into(&proof) != nil {
		return nil, fmt.Errorf("%s has no proof: %d %s", handle, got.status, got.body)
	}
	r := request{operation: history.Register, id: handle, subject: handle, method: http.MethodPost, path: "/bots/register", keep: true,
		body: map[string]string{"handle": handle, "display_name": handle, "encryption_public_key": a.key(),
			"owner_challenge_id": asked.ChallengeID, "owner_verification_token": proof.Token}}
	one, _ := a.pair(ctx, r, r)
	changed, _ := r.differing()
	a.pair(ctx, r, changed)
	a.owner.linked = true
	return a, a.adopt(one)
}

// rotate changes the token of an agent again and again until ctx ends, twice at the same moment, and tries the old and the new one
// on all servers. An agent whose new token was lost with an answer stops.
func (w *Workload) rotate(ctx context.Context) {
	const pace = 3 * time.Second
	a := w.spares[0]
	for a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(pace))) && a.bearer() != "" {
		a.rotateHeld(ctx)
	}
}

func (a *Agent) rotateOnce(ctx context.Context) {
	old := a.bearer()
	c, unconnected := a.connect(ctx)
	if unconnected == nil {
		defer c.Close() //nolint:errcheck // it has ended by then
	}
	r := request{operation: history.TokenRotate, subject: a.Handle, of: tokenName(a.tokens), method: http.MethodPost, path: "/tokens/rotate"}
	one, other := a.pair(ctx, r, r)
	next := ""
	for _, got := range []answer{one, other} {
		var made struct{ Token string }
		if got.succeeded() && got.into(&made) == nil {
			next = made.Token
		}
	}
	switch {
	case next != "":
	case one.status == history.Unanswered || other.status == history.Unanswered || one.status >= 500 || other.status >= 500:
		if got := a.tryToken(ctx, old, a.tokens, ""); got.succeeded() {
			return // it was not rotated
		}
	default:
		return // a limit refused it
	}
	a.renew(ctx, old, next)
	if next != "" && unconnected == nil {
		a.tryOut(c, a.tokens-1)
	}
}

func tokenName(number int) string { return fmt.Sprintf("token %d", number) }

// tryToken reads the own record with a token of the agent.
func (a *Agent) tryToken(ctx context.Context, token string, number int, server string) answer {
	return a.once(ctx, request{operation: history.TokenUse, subject: a.Handle, of: tokenName(number), method: http.MethodGet, path: "/bots/me",
		token: token, server: server})
}

// revoke ends the token of the agent that changes it, and tries it on all servers.
func (w *Workload) revoke(ctx context.Context) {
	a := w.spares[0]
	token := a.bearer()
	if token == "" {
		return
	}
	a.once(ctx, request{operation: history.TokenRevoke, subject: a.Handle, of: tokenName(a.tokens), method: http.MethodPost, path: "/tokens/revoke"})
	for _, server := range w.servers {
		a.tryToken(ctx, token, a.tokens, server)
	}
}
