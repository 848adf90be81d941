package web

import (
	"net/http"
	"strings"
)

// Bearer takes the token out of the one Authorization header (§5); the scheme's case does not matter.
func Bearer(header http.Header) (string, bool) {
	sent := header.Values("Authorization")
	if len(sent) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}
