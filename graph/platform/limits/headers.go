package limits

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers sets RateLimit and RateLimit-Policy (IETF draft) to what is left of the limits met so far, in their order; it sets nothing
// where there were none (contract §1).
func (r *Record) Headers(h http.Header) {
	var policies, states []string
	for _, t := range r.Taken() {
		name := strconv.Quote(t.Limit.Name)
		policies = append(policies, name+";q="+strconv.Itoa(t.Quota)+";w="+seconds(t.Limit.Span))
		states = append(states, name+";r="+strconv.Itoa(t.Remaining)+";t="+seconds(t.Reset))
	}
	if len(policies) > 0 {
		h.Set("RateLimit-Policy", strings.Join(policies, ", "))
		h.Set("RateLimit", strings.Join(states, ", "))
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
