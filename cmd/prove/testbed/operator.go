package testbed

import (
	"context"

	"stoa/cmd/stoa/operatorcli"
	"stoa/cmd/stoa/operatorcli/client"
)

// setUpOwners does what operators do before owners can be verified: they say who they are, publish what owners confirm, and let
// verified agents be rewarded.
func (b *Bed) setUpOwners(ctx context.Context) error {
	const reason = "the proof"
	operator, err := operatorcli.Connection{Address: b.Servers[0].Operator, Token: operatorToken}.Client()
	if err != nil {
		return err
	}
	on, name, contact := true, "The proof", "proof@example.org"
	if _, err := client.UpdateSettings(ctx, operator, client.SettingsInput{
		RewardsEnabled: &on, OperatorName: &name, OperatorContactEmail: &contact,
	}, reason); err != nil {
		return err
	}
	for _, key := range []string{"terms", "privacy"} {
		if _, err := client.PublishDocument(ctx, operator, client.DocumentInput{
			Key: key, Title: "The " + key + " of the proof", Version: "1", Text: "Be kind.\n",
		}, reason); err != nil {
			return err
		}
	}
	return nil
}
