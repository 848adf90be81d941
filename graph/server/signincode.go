package server

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"stoa/graph/platform/fault"
)

// codeLifetime is how long a sign-in code is valid. At most maxCodes codes are valid at once; a new one ends the oldest.
const (
	codeLifetime = 5 * time.Minute
	maxCodes     = 16
)

// SignInCodes are one-time codes. Each signs in one browser without a token. They exist only in the memory of this process: no
// other process accepts them, and a restart ends them. It is safe for concurrent use.
type SignInCodes struct {
	mu    sync.Mutex
	codes []signInCode
}

type signInCode struct {
	text    string
	expires time.Time
	// own is the hash of the operator's own token; empty for the installation's token.
	own string
}

// NewSignInCodes returns an empty set.
func NewSignInCodes() *SignInCodes { return new(SignInCodes) }

// Path makes a code and returns the path of the page that spends it. own is the hash of the operator's own token, or empty for
// the installation's operator.
func (c *SignInCodes) Path(now time.Time, own string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := signInCode{rand.Text(), now.Add(codeLifetime), own}
	c.codes = append(c.codes[max(0, len(c.codes)-maxCodes+1):], code)
	return signInPath + "?code=" + code.text
}

// spend ends a code and returns the own token's hash that it was made for. good reports whether the code was valid.
func (c *SignInCodes) spend(sent string, now time.Time) (own string, good bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, code := range c.codes {
		if code.text == sent { // 128 random bits, so the comparison's timing helps no attacker
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
