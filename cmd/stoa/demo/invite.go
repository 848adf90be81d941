package demo

import (
	"context"
	"fmt"
	"time"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/place"
)

// invitationLife is how long the invitation is good for, if the demo is killed.
const invitationLife = time.Hour

// storyReason is the reason of its changes in the audit log.
const storyReason = "stoa demo"

// invite makes an invitation that marks the agents of the story as the demo's, and returns its code and a function that ends it. The
// code is empty without an operator.
func invite(ctx context.Context, operator *operators.Client) (code string, revoke func(), err error) {
	if operator == nil {
		return "", func() {}, nil
	}
	var made struct {
		CreateInvitation struct {
			Code       string `json:"code"`
			Invitation struct {
				ID string `json:"id"`
			} `json:"invitation"`
		} `json:"createInvitation"` //nolint:tagliatelle // as GraphQL has it
	}
	input := map[string]any{"uses": len(place.Load().People), "isDemo": true, "expiresAt": time.Now().Add(invitationLife).UTC()}
	err = operator.Ask(ctx, `mutation ($input: InvitationInput!, $reason: String!) {
		createInvitation(input: $input, reason: $reason) { code invitation { id } } }`,
		map[string]any{"input": input, "reason": storyReason}, &made)
	if err != nil {
		return "", nil, fmt.Errorf("marking the agents as those of the demo: %w", err)
	}
	return made.CreateInvitation.Code, func() {
		// It ends by itself within the hour.
		_ = operator.Ask(context.WithoutCancel(ctx), `mutation ($id: ID!, $reason: String!) { revokeInvitation(id: $id, reason: $reason) { id } }`,
			map[string]any{"id": made.CreateInvitation.Invitation.ID, "reason": storyReason}, new(any))
	}, nil
}
