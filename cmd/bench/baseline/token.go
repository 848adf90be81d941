package baseline

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"net/http"
	"strings"
)

const (
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	prefix       = "stoa_"
	secretDigits = 43
	checkDigits  = 6
)

// NewToken makes a bearer token that the server takes for well formed.
func NewToken() string {
	secret := make([]byte, secretDigits)
	_, _ = rand.Read(secret) // it never fails
	for i, r := range secret {
		secret[i] = base62[int(r)%len(base62)]
	}
	body := prefix + string(secret)
	return body + check(body)
}

// HashToken is how a token is stored.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func check(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var digits [checkDigits]byte
	for i := range digits {
		digits[checkDigits-1-i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}

// tokenHash is that of a request's bearer token, nil for one that cannot be any.
func tokenHash(r *http.Request) []byte {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	body := len(token) - checkDigits
	if !ok || body < 0 || check(token[:body]) != token[body:] {
		return nil
	}
	return HashToken(token)
}
