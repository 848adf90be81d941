package messages_test

import (
	"flag"
	"testing"
)

// A check of a model runs hundreds of statements, so there are 30 of them instead of rapid's 100, unless a flag says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	m.Run()
}
