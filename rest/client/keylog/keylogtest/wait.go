package keylogtest

import (
	"os"
	"strconv"
	"time"
)

// Wait stretches a time of a test by STOA_TEST_SLACK, which also stretches the time-outs of the server.
func Wait(d time.Duration) time.Duration {
	factor, _ := strconv.ParseFloat(os.Getenv("STOA_TEST_SLACK"), 64) // 0 if it is not set
	return time.Duration(max(1, factor) * float64(d))
}
