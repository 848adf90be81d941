package text

import (
	"errors"
	"regexp"
)

var (
	handlePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{2,31}$`)
	errHandle     = errors.New("must be 3 to 32 characters: a lower-case letter, then lower-case letters, digits or _")
)

// reserved are the handles that nobody may take, as they would pass for the platform or for a path (contract §2).
var reserved = map[string]bool{
	"admin": true, "operator": true, "system": true, "support": true, "stoa": true,
	"root": true, "api": true, "me": true, "null": true, "undefined": true,
}

// Handle refuses all but 3 to 32 ASCII characters: a lower-case letter, then lower-case letters, digits or _ (§2.1).
// Nothing is trimmed.
func Handle(s string) error {
	if !handlePattern.MatchString(s) {
		return errHandle
	}
	return nil
}

// Reserved tells whether a valid handle is kept from everybody (`handle_unavailable`).
func Reserved(handle string) bool { return reserved[handle] }
