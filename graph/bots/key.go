package bots

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"

	"stoa/graph/platform/text"
)

const keySize = 32

var (
	errKeyEncoding  = errors.New("must be padded standard base64 of 32 bytes: exactly 44 characters")
	errKeyCanonical = errors.New("is not a canonical X25519 public key: its value lies outside the field")
	errKeyLowOrder  = errors.New("is a low-order X25519 point, with which every shared secret is known")
)

// fieldPrime is p = 2^255 - 19, least significant byte first, as X25519 encodes numbers.
var fieldPrime = slices.Concat([]byte{0xed}, bytes.Repeat([]byte{0xff}, keySize-2), []byte{0x7f})

// lowOrder holds, in base64, the u-coordinates of all points whose order divides 8, on the curve (its order is 8 times a prime)
// and on its twist (4 times a prime): zero, one, minus one and two of order eight. With such a key every shared secret is zero.
// The table is faster than a test: computing a secret took a quarter of a registration's processor time.
var lowOrder = map[string]bool{
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=": true,
	"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=": true,
	"7P///////////////////////////////////////38=": true,
	"4Ot6fDtBuK4WVuP68Z/EatoJjeucMrH9hmIFFl9JuAA=": true,
	"X5yVvKNQjCSx0LFVnIPvWwREXMRYHI6G2CJO3dCfEVc=": true,
}

// ParseKey decodes an X25519 public key (§2.1). It refuses non-canonical base64, non-canonical numbers, and every point of low
// order.
func ParseKey(s string) ([]byte, error) {
	key, err := text.Base64(s, keySize, keySize)
	if err != nil {
		return nil, errKeyEncoding
	}
	if !belowPrime(key) {
		return nil, errKeyCanonical
	}
	if lowOrder[s] {
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

// Fingerprint returns the fingerprint of the key's 32 bytes as SSH tools print it, for people to compare (§2.1).
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
