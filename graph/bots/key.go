package bots

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"stoa/graph/platform/text"
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

// lowOrder are the u-coordinates of all points whose order divides 8, on the curve (its order is 8 times a prime) and on its
// twist (4 times a prime): zero, one, minus one and two of order eight. With such a key every shared secret is zero. The table is
// faster: computing a secret took a quarter of a registration's processor time.
var lowOrder = func() map[[keySize]byte]bool {
	points := make(map[[keySize]byte]bool)
	for _, u := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	} {
		point, err := hex.DecodeString(u)
		if err != nil {
			panic(err)
		}
		points[[keySize]byte(point)] = true
	}
	return points
}()

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
	if lowOrder[[keySize]byte(key)] {
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
