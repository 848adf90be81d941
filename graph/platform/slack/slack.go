// Package slack gives slow machines more time: one factor extends the server's own time-outs and the waits of tests, so that a
// busy machine makes tests slower, but does not make them fail.
//
// STOA_TEST_SLACK holds the factor, a number from 1 to 50. `stoa test-cluster` measures the machine once and sets it for the
// command that it runs. Without it, as in production, the factor is 1. A limit of the contract that a client can measure, such as
// the life of a token, is never extended.
package slack

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Variable is the name of the environment variable that holds the factor.
const Variable = "STOA_TEST_SLACK"

// largest bounds the factor: even on a slower machine, a test that waits in vain should end within an hour.
const largest = 50

var factor = parse(os.Getenv(Variable))

// parse returns the factor in a text, or 1 if the text is not a number above 1.
func parse(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value > 1) { // NaN is not above 1 either
		return 1
	}
	return min(value, largest)
}

// Of returns d times the factor.
func Of(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }

// TestWait is how long a test waits at most for a condition.
var TestWait = Of(30 * time.Second)

// LoopTime is how long the loop of Measure takes on the reference machine of the time-outs: two idle processors of 2025.
const LoopTime = 100 * time.Millisecond

// rounds is the length of the loop, chosen so that it takes LoopTime.
const rounds = 50_000_000

// Measure returns the current factor for this machine, at least 1: the time of a fixed loop on every processor at once, divided
// by usual. usual is LoopTime except in tests.
func Measure(usual time.Duration) float64 {
	began := time.Now()
	var loops sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		loops.Go(loop)
	}
	loops.Wait()
	return max(1, float64(time.Since(began))/float64(usual))
}

// sink prevents the compiler from removing the loop.
var sink atomic.Uint64

// loop takes steps of a xorshift generator, which depend on each other and touch no memory.
func loop() {
	state := uint64(88172645463325252)
	for range rounds {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	sink.Add(state)
}
