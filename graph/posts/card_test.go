package posts_test

import (
	"testing"

	"stoa/graph/platform/wire/wiretest"
	"stoa/graph/posts"
)

func TestCardsWriteThemselves(t *testing.T) {
	t.Parallel()
	wiretest.SameAsMarshal[posts.PostList](t)
}
