package posts_test

import (
	"testing"

	"stoa/graph/posts"
	"stoa/graph/wire/wiretest"
)

func TestCardsWriteThemselves(t *testing.T) {
	t.Parallel()
	wiretest.SameAsMarshal[posts.PostList](t)
}
