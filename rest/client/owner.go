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
	for {
		proof := Proof{ChallengeID: asked.ID}
		err := a.Do(ctx, http.MethodPost, "/registration/email/verify", Fields{"challenge_id": asked.ID, "code": code}, &proof)
		if !HasCode(err, "state_conflict") || time.Now().After(asked.ExpiresAt) {
			return proof, err
		}
		if err := sleep(ctx, confirmationPause); err != nil {
			return proof, err
		}
	}
}

// Fields are the members with which Register brings the proof.
func (p Proof) Fields() Fields {
	return Fields{"owner_challenge_id": p.ChallengeID, "owner_verification_token": p.Token}
}
