package endpoint

import (
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"stoa/graph/fault"
)

// maxGuesses is how many wrong tokens an address may send in guessWindow before none of its tokens is looked at any more, the
// right one included. Each process counts for itself: the token is long enough, this is for those who chose a short one.
const (
	maxGuesses  = 30
	guessWindow = time.Minute
)

// guesses counts wrong tokens per address.
type guesses struct{ *httprate.RateLimiter }

func newGuesses() guesses {
	return guesses{httprate.NewRateLimiter(maxGuesses, guessWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{}))}
}

// check is rate_limited for an address that has guessed too often.
func (g guesses) check(r *http.Request) error {
	_, wrong, err := g.Status(addressOf(r))
	if err == nil && wrong >= maxGuesses {
		return fault.New(fault.RateLimited).After(guessWindow)
	}
	return err
}

// wrong counts a wrong token.
func (g guesses) wrong(w http.ResponseWriter, r *http.Request) { g.OnLimit(w, r, addressOf(r)) }
