//go:build race

package inspection

// instrumented is the factor by which the race detector increases the need for memory, for tests.
const instrumented = 10
