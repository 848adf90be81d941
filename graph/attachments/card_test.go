package attachments_test

import (
	"testing"

	"stoa/graph/attachments"
	"stoa/graph/wire/wiretest"
)

func TestCardsWriteThemselves(t *testing.T) {
	t.Parallel()
	wiretest.SameAsMarshal[attachments.Card](t)
}
