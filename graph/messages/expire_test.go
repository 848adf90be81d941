package messages_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
)

func TestExpiryDeletesInBatches(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	fill(w, w.Befriend(one, other), one, other, 1203)
	w.Shift(time.Hour)
	kept := w.Sent(one, other)
	w.Shift(messages.Retention - time.Hour)
	var deleted atomic.Int64
	codes := graphtest.AtOnce(3, func(int) error {
		n, err := w.Messages.DeleteExpired(context.Background())
		deleted.Add(n)
		return err
	})
	require.Equal(t, 3, codes.Count()[""])
	require.EqualValues(t, 1203, deleted.Load())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages WHERE id = $1", kept.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages"))
	n := graphtest.Got(w.Messages.DeleteExpired(context.Background()))(t)
	require.Zero(t, n)
}
