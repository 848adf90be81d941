package posts_test

import (
	"testing"

	"stoa/graph/graphtest"
)

func TestMain(m *testing.M) {
	graphtest.Checks(25)
	m.Run()
}
