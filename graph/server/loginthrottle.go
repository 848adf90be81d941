package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"stoa/graph/platform/fault"
)

// maxGuesses is how many wrong tokens a client address may send within guessWindow until it hears rate_limited instead of unauthorized.
const (
	maxGuesses  = 30
	guessWindow = time.Minute
)

// loginThrottle counts wrong tokens per client address (an IPv6 client is its /64), each process for itself. It is asked only about
// tokens that are known to be wrong: a right one always passes, from whatever address and however many wrong ones came before, so nobody
// can lock an operator or an agent out. Guessing is hopeless because tokens are long: the operator's has at least 32 characters.
type loginThrottle struct {
	wrong *httprate.RateLimiter
	log   *slog.Logger
}

func newLoginThrottle(log *slog.Logger) loginThrottle {
	return loginThrottle{httprate.NewRateLimiter(maxGuesses, guessWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{})), log}
}

// refuse counts a wrong token and returns what its sender is told: unauthorized, or rate_limited after maxGuesses. The log names the
// address when it reaches that number.
func (t loginThrottle) refuse(w http.ResponseWriter, r *http.Request, client string) error {
	if t.wrong.OnLimit(w, r, client) {
		return fault.New(fault.RateLimited).Say("Too many wrong tokens came from this address.").After(guessWindow)
	}
	if _, rate, err := t.wrong.Status(client); err == nil && rate >= maxGuesses {
		t.log.WarnContext(r.Context(), "too many wrong tokens on the operator listener", "address", client, "within", guessWindow)
	}
	return fault.New(fault.Unauthorized)
}
