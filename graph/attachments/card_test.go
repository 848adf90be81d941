package attachments_test

import (
	"testing"

	"stoa/graph/attachments"
	"stoa/graph/platform/wire/wiretest"
)

func TestCardsWriteThemselves(t *testing.T) {
	t.Parallel()
	wiretest.SameAsMarshal[attachments.Card](t)
}
