package slack

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// LoopTime is how long the loop of Measure takes on a machine for which the time-outs are right: two idle processors of 2025.
const LoopTime = 100 * time.Millisecond

// rounds is the length of the loop, chosen so that it takes LoopTime.
const rounds = 50_000_000

// Measure returns the factor for this machine at the moment of the call, at least 1: how much longer than usual a fixed loop takes if it runs on
// every processor at once. usual is LoopTime except in tests.
func Measure(usual time.Duration) float64 {
	began := time.Now()
	var loops sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		loops.Go(loop)
	}
	loops.Wait()
	return max(1, float64(time.Since(began))/float64(usual))
}

// sink keeps the compiler from leaving the loop out.
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
