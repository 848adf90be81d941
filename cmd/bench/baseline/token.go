package baseline

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"net/http"
	"strings"
)

const (
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	prefix         = "stoa_"
	secretDigits   = 43
	checksumDigits = 6
)

// NewToken makes a well-formed bearer token.
func NewToken() string {
	secret := make([]byte, secretDigits)
	_, _ = rand.Read(secret) // never fails
	for i, r := range secret {
		secret[i] = base62[int(r)%len(base62)]
	}
	body := prefix + string(secret)
	return body + checksum(body)
}

// HashToken returns the hash under which a token is stored.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var digits [checksumDigits]byte
	for i := range digits {
		digits[checksumDigits-1-i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}

// tokenHash returns the hash of the bearer token of a request, nil if it is missing or malformed.
func tokenHash(r *http.Request) []byte {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	body := len(token) - checksumDigits
	if !ok || body < 0 || checksum(token[:body]) != token[body:] {
		return nil
	}
	return HashToken(token)
}
