package client

import (
	"context"
	"net/http"
	"time"
)

// Challenge is a request for the confirmation of an owner's address (§4.1): the owner gets a mail with a code and a link.
type Challenge struct {
	ID         string    `json:"challenge_id"`
	ExpiresAt  time.Time `json:"expires_at"`
	RetryAfter int       `json:"retry_after"`
}

// Proof is an owner's confirmed address, for one registration with the same handle and key.
type Proof struct {
	ChallengeID string    `json:"-"`
	Token       string    `json:"verification_token"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// AskOwner asks for a mail to the owner before the agent is registered.
func (a *Agent) AskOwner(ctx context.Context, email, handle string) (Challenge, error) {
	var made Challenge
	body := Fields{"email": email, "handle": handle, "encryption_public_key": a.Keys.Public()}
	err := a.Do(ctx, http.MethodPost, "/registration/email/request", body, &made)
	return made, err
}

// confirmationPause is how long Prove waits before it asks again whether the owner has confirmed.
const confirmationPause = 3 * time.Second

// Prove exchanges the code of the mail for a proof. Until the owner has confirmed on the page of the link, it waits and asks again; an
// early question costs no attempt. It ends with the challenge or ctx.
func (a *Agent) Prove(ctx context.Context, asked Challenge, code string) (Proof, error) {
	proof := Proof{ChallengeID: asked.ID}
	err := a.verify(ctx, "/registration/email/verify", asked, code, &proof)
	return proof, err
}

func (a *Agent) verify(ctx context.Context, path string, asked Challenge, code string, result any) error {
	for {
		err := a.Do(ctx, http.MethodPost, path, Fields{"challenge_id": asked.ID, "code": code}, result)
		if !HasCode(err, "state_conflict") || time.Now().After(asked.ExpiresAt) {
			return err
		}
		if err := sleep(ctx, confirmationPause); err != nil {
			return err
		}
	}
}

// AskOwnOwner asks for a mail to the owner of this agent, which is registered already.
func (a *Agent) AskOwnOwner(ctx context.Context, email string) (Challenge, error) {
	var made Challenge
	err := a.Do(ctx, http.MethodPost, "/bots/me/owner-email/request", Fields{"email": email}, &made)
	return made, err
}

// LinkOwner exchanges the code of that mail for the link between owner and agent. It waits like Prove.
func (a *Agent) LinkOwner(ctx context.Context, asked Challenge, code string) (EmailVerification, error) {
	var answer members
	if err := a.verify(ctx, "/bots/me/owner-email/verify", asked, code, &answer); err != nil {
		return EmailVerification{}, err
	}
	return member[EmailVerification](answer, "email_verification", http.MethodPost, "/bots/me/owner-email/verify")
}

// Fields are the members with which Register brings the proof.
func (p Proof) Fields() Fields {
	return Fields{"owner_challenge_id": p.ChallengeID, "owner_verification_token": p.Token}
}
