// Package slack gives slow machines more time: one factor stretches the server's own time-outs and the waits of tests together, so that
// a busy machine makes tests slower and not wrong.
//
// STOA_TEST_SLACK holds the factor, a number from 1 to 50. `stoa test-cluster` measures the machine once and sets it for the command that
// it runs. Without it, as in production, the factor is 1 and nothing is stretched. A limit of the contract that a client can measure, such
// as the life of a token, is never stretched.
package slack

import (
	"os"
	"strconv"
	"time"
)

// Variable is the name of the environment variable that holds the factor.
const Variable = "STOA_TEST_SLACK"

// largest bounds the factor: on a machine that is slower still, a test that waits in vain should end within the hour.
const largest = 50

var factor = parse(os.Getenv(Variable))

// parse returns the factor that a text holds, or 1 if the text is no number above 1.
func parse(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value > 1) { // NaN is not above 1 either
		return 1
	}
	return min(value, largest)
}

// Of returns d times the factor.
func Of(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }

// TestWait is how long a test waits at most for what must happen.
var TestWait = Of(30 * time.Second)
