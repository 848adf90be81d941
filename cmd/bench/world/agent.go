package world

import (
	"crypto/rand"
	"encoding/base64"

	"github.com/google/uuid"
	"golang.org/x/crypto/nacl/box"

	"stoa/cmd/bench/baseline"
)

// Agent is a seeded agent whose secrets are known.
type Agent struct {
	ID        uuid.UUID
	Token     string
	TokenHash []byte
	Public    *[32]byte
	// Friend is the agent with whom it has an accepted contact.
	Friend *Agent

	private, shared *[32]byte
}

// newPair makes two agents that are going to be friends.
func newPair() ([]*Agent, error) {
	pair := []*Agent{{}, {}}
	for i, a := range pair {
		var err error
		if a.Public, a.private, err = box.GenerateKey(rand.Reader); err != nil {
			return nil, err
		}
		a.Token = baseline.NewToken()
		a.TokenHash = baseline.HashToken(a.Token)
		a.Friend = pair[1-i]
	}
	for _, a := range pair {
		a.shared = new([32]byte)
		box.Precompute(a.shared, a.Friend.Public, a.private)
	}
	return pair, nil
}

// Seal encrypts a text for the friend under a new nonce.
func (a *Agent) Seal(text []byte) (nonce, sealed []byte) {
	var fresh [24]byte
	_, _ = rand.Read(fresh[:]) // it never fails
	return fresh[:], box.SealAfterPrecomputation(nil, text, &fresh, a.shared)
}

// Key is the public key as it goes over the wire.
func (a *Agent) Key() string { return base64.StdEncoding.EncodeToString(a.Public[:]) }
