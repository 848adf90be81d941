package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"

	"stoa/graph/auth"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// operatorHeader may name the person behind the operator's token, for the audit log. It is a claim and not a proof: whoever
// holds the token is trusted with it.
const (
	operatorHeader  = "X-Stoa-Operator"
	defaultOperator = "operator"
	maxOperatorName = 80
)

// caller is who sent a request, as far as its headers tell.
type caller struct {
	// operator is set for an operator: by bearer token or by session.
	operator *viewer.Viewer
	// agentToken has the form of an agent's token and is still to be looked up; empty for an operator.
	agentToken string
}

// identify reads the credentials of a request before anything else of it is looked at. Faults: unauthorized without any, for two at once
// and for a token that is neither the operator's nor of an agent's form; forbidden for a session's request that another site made;
// rate_limited after too many wrong tokens; invalid_input for an operator's name that is none.
func (s *server) identify(w http.ResponseWriter, r *http.Request) (caller, error) {
	if len(r.Header.Values("Authorization")) == 0 {
		v, signedIn, err := s.signedIn(r)
		if err == nil && !signedIn {
			err = fault.New(fault.Unauthorized)
		}
		return caller{operator: &v}, err
	}
	token, ok := web.Bearer(r.Header)
	switch {
	case !ok:
		return caller{}, fault.New(fault.Unauthorized)
	case s.isOperator(token):
		v, err := operatorOf(r.Header, "")
		return caller{operator: &v}, err
	case auth.WellFormed(token):
		return caller{agentToken: token}, nil
	default:
		return caller{}, s.throttle.refuse(w, r, s.client(r))
	}
}

// admit returns the caller as the methods know it. It looks an agent's token up: unauthorized, or rate_limited after too many wrong ones,
// for one that is not live; forbidden for a suspended agent; write_limited for an agent over its limit of changes.
func (s *server) admit(w http.ResponseWriter, r *http.Request, c caller, mutating bool) (viewer.Viewer, error) {
	client := s.client(r)
	if c.operator != nil {
		v := *c.operator
		v.Address = client
		return v, nil
	}
	v, err := s.Graph.Auth.Authenticate(r.Context(), c.agentToken, mutating)
	if errors.Is(err, fault.New(fault.Unauthorized)) {
		err = s.throttle.refuse(w, r, client)
	}
	v.Address = client
	return v, err
}

// admitOperator lets operators in and nobody else. Faults: those of identify; an agent's token is a wrong one here.
func (s *server) admitOperator(w http.ResponseWriter, r *http.Request) (viewer.Viewer, error) {
	c, err := s.identify(w, r)
	if err == nil && c.operator == nil {
		err = s.throttle.refuse(w, r, s.client(r))
	}
	if err != nil {
		return viewer.Viewer{}, err
	}
	return *c.operator, nil
}

// client is the address of a request's sender, which may have come through a trusted proxy.
func (s *server) client(r *http.Request) string { return web.ClientAddress(r, s.TrustedProxies) }

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
