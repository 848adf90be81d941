package operator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

func TestInvitationsAreChecked(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	past := o.Now()
	for field, in := range map[string]operator.InvitationInput{
		"uses":      {Uses: graphtest.Ptr(0)},
		"expiresAt": {ExpiresAt: &past},
		"note":      {Note: graphtest.Ptr(strings.Repeat("x", 501))},
	} {
		_, err := o.Operator.CreateInvitation(o.ctx, in, "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, field)
	}
	require.Empty(t, o.entries())
	require.Zero(t, o.Count("SELECT count(*) FROM invitations"))
}

func TestACodeIsKeptNowhere(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{}, "why"))(t)
	require.Regexp(t, `^([A-Z2-7]{5}-){4}[A-Z2-7]{6}$`, made.Code)
	require.Equal(t, bots.HashInvitation(made.Code), made.Invitation.CodeHash)
	require.Equal(t, 1, made.Invitation.Uses)
	entry := o.entries()[0]
	require.Equal(t, made.Invitation.ID.String(), entry.Target)
	require.NotContains(t, fmt.Sprint(entry.Details, entry.Reason), made.Code)
	second := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{}, "why"))(t)
	require.NotEqual(t, made.Code, second.Code)
}
