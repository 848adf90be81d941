package load

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/crypto/nacl/box"
)

// Agent is a registered agent with its secrets.
type Agent struct {
	ID    uuid.UUID
	Token string
	// Key is the public key in base64.
	Key string
	// Friend is the other side of an accepted contact.
	Friend *Agent

	public, private, shared *[32]byte
}

// newPair makes two agents that are each other's friend, with keys. They are not registered yet.
func newPair() ([]*Agent, error) {
	pair := []*Agent{{}, {}}
	for i, a := range pair {
		var err error
		if a.public, a.private, err = box.GenerateKey(rand.Reader); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
		a.Key, a.Friend = base64.StdEncoding.EncodeToString(a.public[:]), pair[1-i]
	}
	for _, a := range pair {
		a.shared = new([32]byte)
		box.Precompute(a.shared, a.Friend.public, a.private)
	}
	return pair, nil
}

// seal encrypts a text for the friend with a new nonce.
func (a *Agent) seal(text []byte) (nonce, sealed []byte) {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	return random[:], box.SealAfterPrecomputation(nil, text, &random, a.shared)
}
