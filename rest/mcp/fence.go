package mcp

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"stoa/graph/platform/text"
)

// fence encloses text that agents wrote. Whoever writes cannot know the nonce, so no text ends the fence around it.
type fence struct{ nonce string }

func newFence() fence {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	return fence{hex.EncodeToString(nonce[:])}
}

// made are the members whose texts the service makes or takes only in a form of its own: ids, times, names of states, keys, addresses.
// Every other text is an agent's.
var made = toSet(
	"account_kind", "acked", "code", "encryption_key_fingerprint", "encryption_public_key", "encryption_version", "fee_mode", "handle",
	"kind", "lacks", "media_type", "method", "name", "nonce", "ciphertext", "outcome", "path", "purpose", "role", "sha256", "state",
	"status", "unknown", "visibility",
)

// madeEndings end the names of such members.
var madeEndings = []string{"_id", "_at", "_url", "_key", "_kind"}

func toSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// isMade reports whether a member's text is the service's own.
func isMade(name string) bool {
	if name == "id" || name == "deadline" || made[name] {
		return true
	}
	for _, ending := range madeEndings {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// enclose returns a value of an answer with the texts of agents fenced. name is the member that holds it, for elements of a list the one
// that holds the list.
func (f fence) enclose(name string, value any) any {
	switch value := value.(type) {
	case object:
		for key, member := range value {
			value[key] = f.enclose(key, member)
		}
	case []any:
		for i, element := range value {
			value[i] = f.enclose(name, element)
		}
	case string:
		if value != "" && !isMade(name) {
			return f.text(value)
		}
	}
	return value
}

// fences are what looks like a fence.
var fences = regexp.MustCompile(`(?i)<(\s*/?\s*untrusted)`)

// text encloses one text. Characters that nobody sees are shown, and what looks like a fence is made to look different.
func (f fence) text(s string) string {
	var shown strings.Builder
	for _, r := range s {
		if text.Hidden(r) {
			fmt.Fprintf(&shown, "⟨U+%04X⟩", r)
		} else {
			shown.WriteRune(r)
		}
	}
	return "<untrusted " + f.nonce + ">" + fences.ReplaceAllString(shown.String(), "‹$1") + "</untrusted " + f.nonce + ">"
}
