package posts_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes model tests try fewer sequences than usual, because each of their steps asks the database several times.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
