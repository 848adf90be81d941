package operator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/ent/setting"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	before := o.state()
	p := graphtest.Ptr[string]
	for field, in := range map[string]operator.SettingsInput{
		"input":                {},
		"feeBps":               {FeeBps: graphtest.Ptr(int64(10_001))},
		"operatorName":         {OperatorName: p("two\nlines")},
		"operatorContactEmail": {OperatorContactEmail: p("Ada <ada@example.org>")},
		"operatorWebsite":      {OperatorWebsite: p("javascript:alert(1)")},
	} {
		_, err := o.Operator.UpdateSettings(o.ctx, in, "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, field)
	}
	_, err := o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{FeeBps: graphtest.Ptr(int64(-1)), OperatorName: p(strings.Repeat("x", 161))}, "")
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 3)
	require.Equal(t, before, o.state())
}

func TestSettingsThatAreLeftOutStay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := graphtest.Ptr[string]
	_, err := o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{
		FeeBps: graphtest.Ptr(int64(0)), RewardsEnabled: graphtest.Ptr(true), EmailGateEnabled: graphtest.Ptr(false), RestoreEnabled: graphtest.Ptr(false),
		OperatorName: p(" Ada & Co "), OperatorContactEmail: p("ada@example.org"), OperatorWebsite: p("https://example.org/about"),
	}, "moving in")
	require.NoError(t, err)
	graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{OperatorWebsite: p("")}, "the site is gone"))
	now := graphtest.Got(o.Operator.Settings(o.ctx))(t)
	require.Zero(t, now.FeeBps)
	require.True(t, now.RewardsEnabled)
	require.False(t, now.EmailGateEnabled || now.RestoreEnabled)
	require.Equal(t, "Ada & Co", now.OperatorName)
	require.Empty(t, now.OperatorWebsite)
	require.Equal(t, setting.RegistrationModeOpen, now.RegistrationMode)
	entries := o.entries()
	require.Len(t, entries, 2)
	require.Equal(t, map[string]any{"operatorWebsite": ""}, entries[1].Details)
	require.Equal(t, "Ada & Co", entries[0].Details["operatorName"])
}

func TestRegistrationModes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	key := o.Agent().PublicKey()
	mode := func(m setting.RegistrationMode) {
		graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{RegistrationMode: &m}, "why"))
	}
	register := func(handle, code string) error {
		_, err := o.Bots.RegisterBot(context.Background(), bots.RegisterInput{
			Handle: &handle, DisplayName: &handle, EncryptionPublicKey: &key, Invitation: &code,
		})
		return err
	}
	mode(setting.RegistrationModeClosed)
	graphtest.RequireFault(t, register("closed_one", ""), fault.Forbidden)
	mode(setting.RegistrationModeInvitation)
	graphtest.RequireFault(t, register("guest_one", ""), fault.InvalidInvitation)

	end := o.Now().Add(day)
	made, err := o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{Uses: graphtest.Ptr(2), ExpiresAt: &end, Note: graphtest.Ptr("for friends")}, "a party")
	require.NoError(t, err)
	require.NoError(t, register("guest_one", made.Code))
	require.NoError(t, register("guest_two", made.Code))
	graphtest.RequireFault(t, register("guest_three", made.Code), fault.InvalidInvitation)

	second := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{ExpiresAt: &end}, "another"))(t)
	o.Shift(2 * day)
	graphtest.RequireFault(t, register("guest_late", second.Code), fault.InvalidInvitation)
	third := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{}, "a third"))(t)
	revoked := graphtest.Got(o.Operator.RevokeInvitation(o.ctx, third.Invitation.ID, "a mistake"))(t)
	o.Shift(day)
	again := graphtest.Got(o.Operator.RevokeInvitation(o.ctx, third.Invitation.ID, "to be sure"))(t)
	require.True(t, revoked.RevokedAt.Equal(*again.RevokedAt))
	graphtest.RequireFault(t, register("guest_shut", third.Code), fault.InvalidInvitation)
}
