package server

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"stoa/graph/platform/fault"
)

// codeLifetime is how long a sign-in code is good, maxCodes how many may be good at the same time; another one ends the oldest.
const (
	codeLifetime = 5 * time.Minute
	maxCodes     = 16
)

// SignInCodes are one-time codes. Each signs one browser in without a token. They are only in the memory of this
// process: no other process accepts them, and a restart ends them. It is safe for concurrent use.
type SignInCodes struct {
	mu    sync.Mutex
	codes []signInCode
}

type signInCode struct {
	text    string
	expires time.Time
	// own is the hash of the token of the operator that it signs in; empty for that of the installation.
	own string
}

// NewSignInCodes returns none.
func NewSignInCodes() *SignInCodes { return new(SignInCodes) }

// Path makes a code for an operator with an own token, whose hash it is, or for that of the installation, and returns the path of the page
// that spends it.
func (c *SignInCodes) Path(now time.Time, own string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := signInCode{rand.Text(), now.Add(codeLifetime), own}
	c.codes = append(c.codes[max(0, len(c.codes)-maxCodes+1):], code)
	return signInPath + "?code=" + code.text
}

// spend reports for whom a code is good, and ends it.
func (c *SignInCodes) spend(sent string, now time.Time) (own string, good bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, code := range c.codes {
		if code.text == sent { // 128 random bits; the time of the comparison does not help an attacker
			c.codes = append(c.codes[:i:i], c.codes[i+1:]...)
			return code.own, now.Before(code.expires)
		}
	}
	return "", false
}

// makeCode answers with the path of a page that signs in. The caller needs an operator's token; a session does not suffice.
func (s *server) makeCode(w http.ResponseWriter, r *http.Request) {
	if len(r.Header.Values("Authorization")) == 0 {
		s.fail(w, r, fault.New(fault.Unauthorized))
		return
	}
	v, err := s.authenticateOperator(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"path": s.Codes.Path(time.Now(), v.OwnToken), "expires_in": int(codeLifetime.Seconds())})
}
