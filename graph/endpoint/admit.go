package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
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
// suspended agent, write_limited for an agent over its limit of changes, invalid_input for an operator's name that is none.
func (s *server) admit(r *http.Request, mutating bool) (viewer.Viewer, error) {
	anonymous := viewer.Viewer{Address: addressOf(r)}
	if len(r.Header.Values("Authorization")) == 0 {
		return anonymous, nil
	}
	token, ok := bearer(r.Header)
	if !ok {
		return anonymous, fault.New(fault.Unauthorized)
	}
	if s.isOperator(token) {
		return operatorOf(r.Header)
	}
	v, err := s.Graph.Bots.Admit(r.Context(), token, mutating)
	v.Address = anonymous.Address
	return v, err
}

// isOperator compares in a time that tells nothing of the token, its length included.
func (s *server) isOperator(token string) bool {
	sent, held := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.OperatorToken))
	return subtle.ConstantTimeCompare(sent[:], held[:]) == 1 && s.OperatorToken != ""
}

func operatorOf(header http.Header) (viewer.Viewer, error) {
	v := viewer.Viewer{Kind: viewer.Operator, Name: defaultOperator}
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
