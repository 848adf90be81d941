package auth

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strconv"
	"strings"
)

// A token is tokenPrefix, 43 base62 characters of at least 256 random bits, and a base62 CRC32 of all before it, so that a
// mistyped token is refused without a look-up, and secret scanners can find leaked ones.
const (
	tokenPrefix   = "stoa_"
	secretLength  = 43
	checkLength   = 6
	tokenLength   = len(tokenPrefix) + secretLength + checkLength
	base62Digits  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomCeiling = 248 // the largest multiple of 62 that fits a byte: bytes above it would favour some digits
)

// NewToken makes a random bearer token.
func NewToken() string {
	return newToken(func(random []byte) { rand.Read(random) }) // it ends the program when the system has no randomness
}

// DeriveToken derives a bearer token from another secret (HKDF, RFC 5869). So a caller that proves that it knows the secret can
// get the token again, although no token is stored. info names the purpose of the token.
func DeriveToken(installationKey []byte, secret, info string) string {
	round := 0
	return newToken(func(random []byte) {
		derived, err := hkdf.Key(sha256.New, []byte(secret), installationKey, info+" "+strconv.Itoa(round), len(random))
		if err != nil {
			panic(err) // only for lengths of more than 255 hashes
		}
		copy(random, derived)
		round++
	})
}

// newToken makes a token from the random bytes that read fills in.
func newToken(read func(random []byte)) string {
	var b strings.Builder
	b.Grow(tokenLength)
	b.WriteString(tokenPrefix)
	var random [64]byte
	for b.Len() < len(tokenPrefix)+secretLength {
		read(random[:])
		for _, r := range random {
			if r < randomCeiling && b.Len() < len(tokenPrefix)+secretLength {
				b.WriteByte(base62Digits[r%62])
			}
		}
	}
	b.WriteString(tokenCheck(b.String()))
	return b.String()
}

// WellFormed reports whether s has the form and the checksum of a token.
func WellFormed(s string) bool {
	body := tokenLength - checkLength
	return len(s) == tokenLength && strings.HasPrefix(s, tokenPrefix) && tokenCheck(s[:body]) == s[body:]
}

func tokenCheck(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	digits := make([]byte, checkLength)
	for i := range digits {
		digits[checkLength-1-i] = base62Digits[sum%62]
		sum /= 62
	}
	return string(digits)
}

// HashToken returns the SHA-256 of a token, the only form in which it is stored.
func HashToken(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}
