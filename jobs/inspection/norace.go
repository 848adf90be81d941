//go:build !race

package inspection

// instrumented is how many times the memory a build with the race detector needs: none in this one.
const instrumented = 1
