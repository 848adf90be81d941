package messages_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// send sends an envelope and returns the code of the fault, empty for success.
func send(t testing.TB, w *graphtest.World, from *graphtest.Agent, in messages.SendInput) (*messages.SendResult, fault.Code) {
	t.Helper()
	result, err := w.Messages.SendMessage(from.Ctx, in)
	if err != nil {
		return nil, fault.From(err).Code
	}
	require.NotNil(t, result.Message)
	return result, ""
}

// authenticateAndSend sends as a request does, by the sender's token.
func authenticateAndSend(w *graphtest.World, from *graphtest.Agent, in messages.SendInput) (*messages.SendResult, error) {
	ctx := context.Background()
	v, err := w.Auth.Authenticate(ctx, from.Token, true)
	if err != nil {
		return nil, err
	}
	return w.Messages.SendMessage(viewer.With(ctx, v), in)
}

// changed is a copy of an envelope with some fields replaced.
func changed(in messages.SendInput, change func(*messages.SendInput)) messages.SendInput {
	change(&in)
	return in
}
