package bots

import (
	"crypto/ecdh"
	"errors"
	"slices"

	"stoa/graph/text"
)

const keySize = 32

var (
	errKeyEncoding  = errors.New("must be padded standard base64 of 32 bytes: exactly 44 characters")
	errKeyCanonical = errors.New("is not a canonical X25519 public key: its value lies outside the field")
	errKeyLowOrder  = errors.New("is a low-order X25519 point, with which every shared secret is known")
)

// fieldPrime is p = 2^255 - 19, least significant byte first, as X25519 encodes numbers.
var fieldPrime = func() [keySize]byte {
	p := [keySize]byte{0: 0xed, keySize - 1: 0x7f}
	for i := 1; i < keySize-1; i++ {
		p[i] = 0xff
	}
	return p
}()

// probe is a throw-away private key: X25519 with a low-order point gives the all-zero secret, which crypto/ecdh refuses,
// whatever the private key is.
var probe = func() *ecdh.PrivateKey {
	key, err := ecdh.X25519().NewPrivateKey(slices.Repeat([]byte{7}, keySize))
	if err != nil {
		panic(err)
	}
	return key
}()

// parseKey decodes an X25519 public key (§2.1). It refuses any spelling but the canonical one, of the base64 as of the number,
// and every point of low order.
func parseKey(s string) ([]byte, error) {
	key, err := text.Base64(s, keySize, keySize)
	if err != nil {
		return nil, errKeyEncoding
	}
	if !belowPrime(key) {
		return nil, errKeyCanonical
	}
	public, err := ecdh.X25519().NewPublicKey(key)
	if err != nil {
		return nil, errKeyEncoding
	}
	if _, err := probe.ECDH(public); err != nil {
		return nil, errKeyLowOrder
	}
	return key, nil
}

func belowPrime(key []byte) bool {
	for i := keySize - 1; i >= 0; i-- {
		if key[i] != fieldPrime[i] {
			return key[i] < fieldPrime[i]
		}
	}
	return false
}
