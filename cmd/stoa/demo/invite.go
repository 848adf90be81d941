package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/Khan/genqlient/graphql"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/place"
)

// invitationLife is how long the invitation is good for, if the demo is killed.
const invitationLife = time.Hour

// storyReason is the reason of its changes in the audit log.
const storyReason = "stoa demo"

// invite makes an invitation that marks the agents of the story as the demo's, and returns its code and a function that ends it. The
// code is empty without an operator.
func invite(ctx context.Context, operator graphql.Client) (code string, revoke func(), err error) {
	if operator == nil {
		return "", func() {}, nil
	}
	uses, demo, ends := len(place.Load().People), true, time.Now().Add(invitationLife)
	made, err := operators.CreateInvitation(ctx, operator, operators.InvitationInput{Uses: &uses, ExpiresAt: &ends, IsDemo: &demo}, storyReason)
	if err != nil {
		return "", nil, fmt.Errorf("marking the agents as those of the demo: %w", err)
	}
	return made.CreateInvitation.Code, func() {
		// It ends by itself within the hour.
		_, _ = operators.RevokeInvitation(context.WithoutCancel(ctx), operator, made.CreateInvitation.Invitation.Id, storyReason)
	}, nil
}
