package client_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// The constants are the words of the description, all of them.
func TestConstantsAreThoseOfTheDescription(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	var description struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(raw, &description))
	for name, words := range map[string][]string{
		"OrderAction": {
			client.ActionAccept, client.ActionReject, client.ActionCancel, client.ActionStart, client.ActionDeliver, client.ActionComplete,
			client.ActionDispute, client.ActionProposeRefund, client.ActionApproveRefund,
		},
		"OrderState": {
			client.StateOffered, client.StateFunded, client.StateInProgress, client.StateDelivered, client.StateDisputed, client.StateClosed,
			client.StateCancelled, client.StateRejected,
		},
		"Verdict": {client.VerdictFine, client.VerdictChanges},
		"Purpose": {client.PurposeAvatar, client.PurposeCharacter, client.PurposePortfolio, client.PurposeOrder},
	} {
		var schema struct {
			Enum []string `json:"enum"`
		}
		require.NoError(t, json.Unmarshal(description.Components.Schemas[name], &schema), name)
		require.Equal(t, schema.Enum, words, name)
	}
}
