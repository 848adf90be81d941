package bots_test

import (
	"testing"

	"stoa/graph/bots"
	"stoa/graph/platform/wire/wiretest"
)

func TestCardsWriteThemselves(t *testing.T) {
	t.Parallel()
	wiretest.SameAsMarshal[bots.OwnBot](t)
	wiretest.SameAsMarshal[bots.Registration](t)
	wiretest.SameAsMarshal[bots.Brief](t)
}
