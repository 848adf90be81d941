package events_test

import (
	"testing"

	"stoa/graph/graphtest"
)

func TestMain(m *testing.M) {
	graphtest.Checks(30)
	m.Run()
}
