package bots

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/google/uuid"

	"stoa/graph/email"
)

// proof is a registration's proof that its owner's address was verified; stoa_judge_proof checks it while the email gate is on.
type proof struct {
	// challengeID is null if there is no proof.
	challengeID uuid.NullUUID
	// genuine reports that the token belongs to the challenge.
	genuine bool
	// requestHash is the hash of all other fields of the request.
	requestHash []byte
}

// proofOf returns the proof of a registration. A malformed challenge id counts as an unknown challenge.
func (a *API) proofOf(p passport) proof {
	brought := proof{requestHash: p.hash()}
	if p.challenge == "" || p.proof == "" {
		return brought
	}
	brought.challengeID.Valid = true
	id, err := uuid.Parse(p.challenge)
	if err == nil && a.Email.IsLinkToken(email.ProofLabel, id, p.proof) {
		brought.challengeID.UUID, brought.genuine = id, true
	}
	return brought
}

// hash returns the same value for two registrations of the same agent.
func (p passport) hash() []byte {
	all, err := json.Marshal([]any{
		p.handle, p.displayName, p.specialty, p.bio, p.characterDescription, p.invitation, p.key, p.public,
	})
	if err != nil {
		panic(err) // strings, bytes and a boolean never fail
	}
	sum := sha256.Sum256(all)
	return sum[:]
}
