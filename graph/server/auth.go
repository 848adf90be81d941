package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"time"

	"stoa/graph/auth"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// credentials holds the credentials in the headers of a request.
type credentials struct {
	// operator is set for an operator: by bearer token or by session.
	operator *viewer.Viewer
	// agentToken has the form of an agent's token but is not looked up yet; empty for an operator.
	agentToken string
}

// readCredentials reads the credentials of a request before anything else of the request. Faults: unauthorized without a token,
// with two at once, and for a token that is not an operator's and does not have the form of an agent's; forbidden if another site
// made a session's request; rate_limited after too many wrong tokens; invalid_input for an invalid operator's name, forbidden for
// another operator's name.
func (s *server) readCredentials(r *http.Request) (credentials, error) {
	if len(r.Header.Values("Authorization")) == 0 {
		v, signedIn, err := s.signedIn(r)
		if err == nil && !signedIn {
			err = fault.New(fault.Unauthorized)
		}
		return credentials{operator: &v}, err
	}
	token, ok := web.Bearer(r.Header)
	if !ok {
		return credentials{}, fault.New(fault.Unauthorized)
	}
	v, known, err := s.operatorOf(r.Context(), token, r.Header.Get(operator.NameHeader))
	switch {
	case known || err != nil:
		return credentials{operator: &v}, err
	case auth.WellFormed(token):
		return credentials{agentToken: token}, nil
	default:
		return credentials{}, s.wrongToken(r)
	}
}

// authenticate returns the caller for the methods of the domains. It looks up an agent's token. Faults: unauthorized for a token
// that is not live, or rate_limited after too many of them; forbidden for a suspended agent; write_limited for an agent over its
// limit of changes.
func (s *server) authenticate(r *http.Request, c credentials, mutating bool) (viewer.Viewer, error) {
	if c.operator != nil {
		v := *c.operator
		v.Address = s.clientAddress(r)
		return v, nil
	}
	v, err := s.Graph.Auth.Authenticate(r.Context(), c.agentToken, mutating)
	if errors.Is(err, fault.New(fault.Unauthorized)) {
		if refused := s.wrongToken(r); !errors.Is(refused, fault.New(fault.Unauthorized)) {
			err = refused // rate_limited; otherwise err says why the token ended
		}
	}
	v.Address = s.clientAddress(r)
	return v, err
}

// authenticateOperator returns the calling operator. Faults as readCredentials; an agent's token is a wrong token here.
func (s *server) authenticateOperator(r *http.Request) (viewer.Viewer, error) {
	c, err := s.readCredentials(r)
	if err == nil && c.operator == nil {
		err = s.wrongToken(r)
	}
	if err != nil {
		return viewer.Viewer{}, err
	}
	return *c.operator, nil
}

// clientAddress is the address of the client, also behind a trusted proxy.
func (s *server) clientAddress(r *http.Request) string { return web.ClientAddress(r, s.TrustedProxies) }

// ofInstallation reports whether token is the installation's. Its duration reveals nothing about that, not even the length.
func (s *server) ofInstallation(token string) bool {
	sent, held := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.OperatorToken))
	return subtle.ConstantTimeCompare(sent[:], held[:]) == 1 && s.OperatorToken != ""
}

// operatorOf returns the operator of a token: the installation's token under the given name, or an operator's own token, whose
// name overrides the given one. known is false for any other token. Faults: invalid_input or forbidden for the name.
func (s *server) operatorOf(ctx context.Context, token, name string) (v viewer.Viewer, known bool, err error) {
	if s.ofInstallation(token) {
		v, err = s.identify(ctx, "", name, nil, true)
		return v, true, err
	}
	own := operator.OwnToken(token)
	if own == "" {
		return v, false, nil
	}
	v, err = s.identify(ctx, own, "", nil, true)
	if errors.Is(err, fault.New(fault.Unauthorized)) {
		return v, false, nil
	}
	return v, true, err
}

// identify returns the operator of an own token, by its hash. If own is empty, it returns the installation's operator under a
// name. session is a session's number of sign-outs; nil without one. present means that the operator made the request, as opposed
// to a page that is open. Faults: unauthorized for an own token or session that is not in force, invalid_input or forbidden for
// the name.
func (s *server) identify(ctx context.Context, own, name string, session *int, present bool) (v viewer.Viewer, err error) {
	ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	if own != "" {
		return s.Graph.Operator.Recognize(ctx, own, session, present)
	}
	return s.Graph.Operator.Named(ctx, name)
}

// maxGuesses is how many wrong tokens a client address may send within guessWindow before unauthorized becomes rate_limited.
const (
	maxGuesses  = 30
	guessWindow = time.Minute
)

// wrongToken counts a wrong token and returns its fault: unauthorized, or rate_limited after maxGuesses. It logs the address when
// that number is reached. Tokens are counted per client address (an IPv6 client is its /64), separately in each process, and only
// those that are known to be wrong. A right one always passes, so an attacker cannot lock out an operator or an agent. Guessing
// is hopeless: the installation's token has at least 32 characters.
func (s *server) wrongToken(r *http.Request) error {
	client := s.clientAddress(r)
	switch count := s.guesses.Add(client); {
	case count > maxGuesses:
		return fault.New(fault.RateLimited).Say("Too many wrong tokens came from this address.").After(guessWindow)
	case count == maxGuesses:
		s.Logger.WarnContext(r.Context(), "too many wrong tokens on the operator listener", "address", client, "within", guessWindow)
	}
	return fault.New(fault.Unauthorized)
}
