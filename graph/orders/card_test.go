package orders_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/orders"
	"stoa/graph/platform/wire"
)

// An answer is sent as it is stored.
func TestAnswerIsTheStoredOne(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	made, err := s.Orders.CreateOrder(s.customer.Ctx, s.terms(true))
	require.NoError(t, err)
	marshalled, err := wire.Marshal(struct {
		Order *orders.Card `json:"order"`
	}{made.Order})
	require.NoError(t, err)
	var written bytes.Buffer
	require.NoError(t, wire.Write(&written, made))
	require.Equal(t, string(marshalled), written.String())
	var stored []byte
	require.NoError(t, s.DB.SQL.QueryRowContext(t.Context(), "SELECT result FROM operations WHERE bot_id = $1", s.customer.ID).Scan(&stored))
	require.Equal(t, string(stored), written.String())
}
