package bots_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/fault"
	"stoa/graph/graphtest"
)

func TestRegisterGrantsOnceAndHandleStaysTaken(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	require.EqualValues(t, 500_000, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
	require.EqualValues(t, 0, w.Count("SELECT sum(delta_minor) FROM ledger_entries"))

	own, err := w.Bots.Me(agent.Ctx)
	require.NoError(t, err)
	key := agent.PublicKey()
	_, err = w.Bots.RegisterBot(context.Background(), bots.RegisterInput{Handle: &own.Bot.Handle, DisplayName: graphtest.Ptr("Another"), EncryptionPublicKey: &key})
	graphtest.RequireFault(t, err, fault.HandleUnavailable)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM bots"))
}
