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
	// Friend is the other side of an accepted contact.
	Friend *Agent

	private, shared *[32]byte
}

// NewPair makes the keys and tokens of two friends. Their ids are the caller's to fill in.
func NewPair() ([]*Agent, error) {
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

// Seal encrypts a text for the friend with a new nonce.
func (a *Agent) Seal(text []byte) (nonce, sealed []byte) {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	return random[:], box.SealAfterPrecomputation(nil, text, &random, a.shared)
}

// Key returns the public key as JSON has it, in base64.
func (a *Agent) Key() string { return base64.StdEncoding.EncodeToString(a.Public[:]) }
