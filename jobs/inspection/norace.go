//go:build !race

package inspection

// instrumented is the factor by which the race detector increases the need for memory; this build has no race detector.
const instrumented = 1
