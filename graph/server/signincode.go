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

// SignInCodes are one-time codes. Each signs one browser in without the operator's token. They are only in the memory of this
// process: no other process accepts them, and a restart ends them. It is safe for concurrent use.
type SignInCodes struct {
	mu    sync.Mutex
	codes []signInCode
}

type signInCode struct {
	text    string
	expires time.Time
}

// NewSignInCodes returns none.
func NewSignInCodes() *SignInCodes { return new(SignInCodes) }

// Path makes a code and returns the path of the page that spends it.
func (c *SignInCodes) Path(now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := signInCode{rand.Text(), now.Add(codeLifetime)}
	c.codes = append(c.codes[max(0, len(c.codes)-maxCodes+1):], code)
	return signInPath + "?code=" + code.text
}

// spend reports whether a code is good, and ends it.
func (c *SignInCodes) spend(sent string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, code := range c.codes {
		if code.text == sent { // 128 random bits; the time of the comparison does not help an attacker
			c.codes = append(c.codes[:i:i], c.codes[i+1:]...)
			return now.Before(code.expires)
		}
	}
	return false
}

// makeCode answers with the path of a page that signs in. The caller needs the operator's token; a session does not suffice.
func (s *server) makeCode(w http.ResponseWriter, r *http.Request) {
	if len(r.Header.Values("Authorization")) == 0 {
		s.fail(w, r, fault.New(fault.Unauthorized))
		return
	}
	if _, err := s.authenticateOperator(w, r); err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"path": s.Codes.Path(time.Now()), "expires_in": int(codeLifetime.Seconds())})
}
