package search

import (
	"errors"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// maxQuery is the length of a search text in characters (§8).
const maxQuery = 160

var errOnce = errors.New("must be sent once")

// Text reads the search text called name: sent at most once, up to 160 characters, none that a stored text could not hold. What is
// wrong goes into wrong, for invalid_search. It is empty where nothing is searched for.
func Text(wrong fault.Fields, name string, sent page.Param) string {
	switch len(sent) {
	case 0:
		return ""
	case 1:
	default:
		wrong.Add(name, errOnce)
		return ""
	}
	kept, err := text.Multi(sent[0], 0, maxQuery)
	wrong.Add(name, err)
	return kept
}

// Asked tells whether a parameter asks for a search: it is sent, and not just empty.
func Asked(sent page.Param) bool { return len(sent) > 1 || len(sent) == 1 && sent[0] != "" }
