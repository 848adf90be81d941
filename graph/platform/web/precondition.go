package web

import (
	"net/http"
	"strings"
	"time"

	"stoa/graph/platform/fault"
)

// Precondition judges the preconditions of a GET or HEAD for a representation with a strong ETag, in the order of RFC 9110 §13.2.2.
// It returns precondition_failed if one is not met, and whether the client has the representation already. modified is when it was
// changed last; of a representation that is made anew for each request it is now, because nothing says that it was not.
//
// If-Modified-Since is ignored: the ETag is more exact, and no answer has a Last-Modified.
func Precondition(r *http.Request, tag string, modified time.Time) (known bool, err error) {
	failed := false
	if named := r.Header.Values("If-Match"); len(named) > 0 {
		failed = !ETagMatches(named, tag, false)
	} else if since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since")); err == nil {
		failed = modified.Truncate(time.Second).After(since) // dates of HTTP have whole seconds
	}
	if failed {
		return false, fault.New(fault.PreconditionFailed)
	}
	return ETagMatches(r.Header.Values("If-None-Match"), tag, true), nil
}

// ETagMatches reports whether a header such as If-None-Match names a strong tag. weakly also accepts its weak form.
func ETagMatches(header []string, tag string, weakly bool) bool {
	for sent := range strings.SplitSeq(strings.Join(header, ","), ",") {
		sent = strings.TrimSpace(sent)
		if weakly {
			sent = strings.TrimPrefix(sent, "W/")
		}
		if sent == tag || sent == "*" {
			return true
		}
	}
	return false
}
