// Package session is how a browser stays signed in on the operator listener, which otherwise knows bearer tokens only.
//
// A session is a value for a cookie: who signed in, until when, and an HMAC over both under a key derived from the operator's
// token. Nothing is stored, so every process that has the token knows the sessions of the others, and another token ends them
// all. A value says nothing of the token. Sessions cannot be ended one by one: signing out takes the cookie from the browser,
// and a copy of it would live to its end.
package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Lifetime of a session.
const Lifetime = 12 * time.Hour

// purpose keeps the key apart from any other use of the token.
const purpose = "stoa operator session 1"

// Sessions makes and reads the sessions of one token. It is safe for concurrent use.
type Sessions struct{ key []byte }

// New derives the key. An empty token has no sessions: Read refuses every value.
func New(token string) *Sessions {
	if token == "" {
		return &Sessions{}
	}
	derived := hmac.New(sha256.New, []byte(token))
	derived.Write([]byte(purpose))
	return &Sessions{key: derived.Sum(nil)}
}

// claims are what a session says.
type claims struct {
	Name    string `json:"n"`
	Expires int64  `json:"e"`
}

var encoding = base64.RawURLEncoding

// Make returns the value of a session that begins now. Name is the operator's, for the audit log, and may be empty.
func (s *Sessions) Make(name string, now time.Time) string {
	raw, err := json.Marshal(claims{name, now.Add(Lifetime).Unix()})
	if err != nil {
		panic(err) // a text and a number always have a form
	}
	payload := encoding.EncodeToString(raw)
	return payload + "." + encoding.EncodeToString(s.sign(payload))
}

// Read returns who signed in, unless the value was not made with this token or has expired.
func (s *Sessions) Read(value string, now time.Time) (name string, ok bool) {
	payload, signature, found := strings.Cut(value, ".")
	sent, err := encoding.DecodeString(signature)
	if !found || err != nil || len(s.key) == 0 || !hmac.Equal(sent, s.sign(payload)) {
		return "", false
	}
	raw, err := encoding.DecodeString(payload)
	if err != nil {
		return "", false
	}
	var said claims
	if json.Unmarshal(raw, &said) != nil || now.Unix() >= said.Expires {
		return "", false
	}
	return said.Name, true
}

func (s *Sessions) sign(payload string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(payload))
	return mac.Sum(nil)
}
