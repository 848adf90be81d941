package webhooks

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// waits are those after the first, second, … attempt that failed. The attempt after the last one is the last.
var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour,
}

// maxRetryAfter is how long an endpoint may ask to be left alone.
const maxRetryAfter = 24 * time.Hour

// nextWait is how long after an attempt that failed the next one follows; false: that was the last. An endpoint that asked for a
// longer wait gets it.
func nextWait(attempts int, retryAfter time.Duration) (wait time.Duration, again bool) {
	if attempts > len(waits) {
		return 0, false
	}
	return max(waits[attempts-1], retryAfter), true
}

// parseRetryAfter reads the header of an answer: seconds, or a time. It returns 0 if the header is missing or invalid.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.Atoi(value)
		if err != nil || seconds > int(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
