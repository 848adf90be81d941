//go:build race

package inspection

// instrumented is how many times the memory a build with the race detector needs, for tests.
const instrumented = 10
