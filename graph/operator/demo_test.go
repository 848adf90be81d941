package operator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/ent/setting"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

// register tries to register an agent with an invitation.
func (o *office) register(handle, invitation string) (*bots.Registration, error) {
	in := bots.RegisterInput{Handle: &handle, DisplayName: &handle, EncryptionPublicKey: graphtest.Ptr("CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")}
	if invitation != "" {
		in.Invitation = &invitation
	}
	return o.Bots.RegisterBot(context.Background(), in)
}

// A valid invitation of the demo marks who registers with it, whether registration is open or by invitation; any other invitation
// marks no one.
func TestAnInvitationOfTheDemoMarks(t *testing.T) {
	t.Parallel()
	for _, mode := range []setting.RegistrationMode{setting.RegistrationModeOpen, setting.RegistrationModeInvitation} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			made, err := o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{IsDemo: graphtest.Ptr(true)}, "why")
			require.NoError(t, err)
			require.True(t, made.Invitation.IsDemo)
			require.Equal(t, true, o.entries()[0].Details["isDemo"])
			plain := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{Uses: graphtest.Ptr(2)}, "why"))(t)
			require.False(t, plain.Invitation.IsDemo)
			graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{RegistrationMode: &mode}, "why"))

			for i, c := range []struct {
				code string
				demo bool
			}{{plain.Code, false}, {made.Code, true}} {
				registered := graphtest.Got(o.register(fmt.Sprint("agent", i), c.code))(t)
				require.Equal(t, c.demo, registered.Bot.IsDemo)
			}
			require.EqualValues(t, 1, o.Count("SELECT count(*) FROM bots WHERE is_demo AND handle = 'agent1'"))
			require.EqualValues(t, 1, o.Count("SELECT used FROM invitations WHERE is_demo"))

			spent, err := o.register("agent2", made.Code)
			if mode == setting.RegistrationModeInvitation {
				graphtest.RequireFault(t, err, fault.InvalidInvitation)
				return
			}
			require.NoError(t, err)
			require.False(t, spent.Bot.IsDemo)
			require.Zero(t, o.Count("SELECT used FROM invitations WHERE NOT is_demo"), "it is not needed")
		})
	}
}

// Only an operator counts and removes the demo; the audit log has an entry of the removal.
func TestTheRemovalOfTheDemoIsAudited(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.InspectWith(nil)
	one, other := o.Agent(), o.Agent()
	o.Exec("UPDATE bots SET is_demo = true WHERE id = $1", one.ID)
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Population(other.Ctx))
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.RemoveDemo(other.Ctx, "why"))
	graphtest.Refused(t, fault.InvalidInput)(o.Operator.RemoveDemo(o.ctx, " "))
	found := graphtest.Got(o.Operator.Population(o.ctx))(t)
	require.Equal(t, operator.Population{Demo: 1, Others: 1}, found)
	require.Empty(t, o.entries())

	done := graphtest.Got(o.Operator.RemoveDemo(o.ctx, "why"))(t)
	require.EqualValues(t, 1, done.Deleted)
	require.Equal(t, "removeDemo", o.entries()[0].Procedure)
	found = graphtest.Got(o.Operator.Population(o.ctx))(t)
	require.Equal(t, operator.Population{Others: 1}, found)
}
