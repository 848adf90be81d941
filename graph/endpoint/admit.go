package endpoint

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"

	"stoa/graph/fault"
	"stoa/graph/text"
	"stoa/graph/viewer"
)

// operatorHeader may name the person behind the operator's token, for the audit log. It is a claim and not a proof: whoever
// holds the token is trusted with it.
const (
	operatorHeader  = "X-Stoa-Operator"
	defaultOperator = "operator"
	maxOperatorName = 80
)

// admit finds out who asks: unauthorized for a token that is neither the operator's nor a live agent's, forbidden for a
// suspended agent and for a session's request that another site made, write_limited for an agent over its limit of changes,
// rate_limited after too many wrong tokens, invalid_input for an operator's name that is none.
func (s *server) admit(w http.ResponseWriter, r *http.Request, mutating bool) (viewer.Viewer, error) {
	anonymous := viewer.Viewer{Address: addressOf(r)}
	if len(r.Header.Values("Authorization")) == 0 {
		if v, signedIn, err := s.signedIn(r); signedIn || err != nil {
			return v, err
		}
		return anonymous, nil
	}
	token, operator, err := s.presented(r)
	if err != nil {
		return anonymous, err
	}
	if operator {
		return operatorOf(r.Header, "")
	}
	v, err := s.Graph.Bots.Admit(r.Context(), token, mutating)
	if errors.Is(err, fault.New(fault.Unauthorized)) {
		s.guesses.wrong(w, r)
	}
	v.Address = anonymous.Address
	return v, err
}

// admitOperator lets operators in and nobody else: unauthorized, forbidden for a session's change that another site made,
// rate_limited after too many wrong tokens, invalid_input for an operator's name that is none.
func (s *server) admitOperator(w http.ResponseWriter, r *http.Request) (viewer.Viewer, error) {
	if len(r.Header.Values("Authorization")) == 0 {
		v, signedIn, err := s.signedIn(r)
		if err == nil && !signedIn {
			err = fault.New(fault.Unauthorized)
		}
		return v, err
	}
	_, operator, err := s.presented(r)
	if err != nil {
		return viewer.Viewer{}, err
	}
	if !operator {
		s.guesses.wrong(w, r)
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	return operatorOf(r.Header, "")
}

// presented reads the bearer token and tells whether it is the operator's.
func (s *server) presented(r *http.Request) (token string, operator bool, err error) {
	token, ok := bearer(r.Header)
	if !ok {
		return "", false, fault.New(fault.Unauthorized)
	}
	if err := s.guesses.check(r); err != nil {
		return "", false, err
	}
	return token, s.isOperator(token), nil
}

// isOperator compares in a time that tells nothing of the token, its length included.
func (s *server) isOperator(token string) bool {
	sent, held := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.OperatorToken))
	return subtle.ConstantTimeCompare(sent[:], held[:]) == 1 && s.OperatorToken != ""
}

// operatorOf makes an operator of the name in the header, or else of the one that was given at the sign-in.
func operatorOf(header http.Header, name string) (viewer.Viewer, error) {
	v := viewer.Viewer{Kind: viewer.Operator, Name: cmp.Or(name, defaultOperator)}
	if sent := header.Get(operatorHeader); sent != "" {
		name, err := text.Line(sent, 1, maxOperatorName)
		if err != nil {
			return v, fault.Field(fault.InvalidInput, operatorHeader, err.Error())
		}
		v.Name = name
	}
	return v, nil
}

// bearer takes the token out of the one Authorization header; the scheme's case does not matter.
func bearer(header http.Header) (string, bool) {
	sent := header.Values("Authorization")
	if len(sent) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}

// addressOf is the client's address, for the limits per address; no proxy is believed on this listener.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
