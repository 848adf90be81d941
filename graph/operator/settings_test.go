package operator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/ent/setting"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

func TestSettingsThatAreLeftOutStay(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	p := graphtest.Ptr[string]
	graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{
		FeeBps: graphtest.Ptr(int64(0)), RewardsEnabled: graphtest.Ptr(true), EmailGateEnabled: graphtest.Ptr(false), RestoreEnabled: graphtest.Ptr(false),
		OperatorName: p(" Ada & Co "), OperatorContactEmail: p("ada@example.org"), OperatorWebsite: p("https://example.org/about"),
	}, "moving in"))
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
	o := newOperatorWorld(t)
	mode := func(m setting.RegistrationMode) {
		graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{RegistrationMode: &m}, "why"))
	}
	register := func(handle, code string) error { return graphtest.Err(o.register(handle, code)) }
	require.NoError(t, register("open_one", "ignored"))
	mode(setting.RegistrationModeClosed)
	graphtest.RequireFault(t, register("closed_one", ""), fault.Forbidden)
	mode(setting.RegistrationModeInvitation)
	graphtest.RequireFault(t, register("guest_one", ""), fault.InvalidInvitation)
	graphtest.RequireFault(t, register("guest_one", "unknown"), fault.InvalidInvitation)

	end := o.Now().Add(day)
	made := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{Uses: graphtest.Ptr(2), ExpiresAt: &end, Note: graphtest.Ptr("for friends")}, "a party"))(t)
	require.Regexp(t, `^([A-Z2-7]{5}-){4}[A-Z2-7]{6}$`, made.Code)
	require.Equal(t, bots.HashInvitation(made.Code), made.Invitation.CodeHash)
	require.NotContains(t, fmt.Sprint(o.entries()), made.Code, "it is kept nowhere")
	require.NoError(t, register("guest_one", made.Code))
	require.NoError(t, register("guest_two", made.Code))
	graphtest.RequireFault(t, register("guest_three", made.Code), fault.InvalidInvitation)

	second := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{ExpiresAt: &end}, "another"))(t)
	o.Shift(2 * day)
	graphtest.RequireFault(t, register("guest_late", second.Code), fault.InvalidInvitation)
	third := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{}, "a third"))(t)
	require.Equal(t, 1, third.Invitation.Uses)
	require.NotEqual(t, second.Code, third.Code)
	revoked := graphtest.Got(o.Operator.RevokeInvitation(o.ctx, third.Invitation.ID, "a mistake"))(t)
	o.Shift(day)
	again := graphtest.Got(o.Operator.RevokeInvitation(o.ctx, third.Invitation.ID, "to be sure"))(t)
	require.True(t, revoked.RevokedAt.Equal(*again.RevokedAt))
	graphtest.RequireFault(t, register("guest_shut", third.Code), fault.InvalidInvitation)
}

// enable switches the email gate or restoring by email on or off.
func (o *operatorWorld) enable(gate, restore *bool) error {
	return graphtest.Err(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{EmailGateEnabled: gate, RestoreEnabled: restore}, "why"))
}

func TestSwitchesThatNeedMailStayOff(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	before := o.state()
	yes, no := graphtest.Ptr(true), graphtest.Ptr(false)
	const mail = "sending mail, which this installation cannot"
	for name, c := range map[string]struct {
		err   error
		code  fault.Code
		lacks []string
	}{
		"gate":              {o.enable(yes, nil), fault.VerificationSetupPending, []string{"contact address", "document that owners confirm", mail}},
		"restore":           {o.enable(nil, yes), fault.LifecycleSetupPending, []string{mail}},
		"both":              {o.enable(yes, yes), fault.VerificationSetupPending, []string{mail}},
		"one on, one off":   {o.enable(no, yes), fault.LifecycleSetupPending, []string{mail}},
		"lifecycle":         {graphtest.Err(o.Operator.ActivateLifecycle(o.ctx, "why")), fault.LifecycleSetupPending, []string{mail}},
		"email requirement": {graphtest.Err(o.Operator.ActivateEmailRequirement(o.ctx, "why")), fault.VerificationSetupPending, []string{mail}},
	} {
		refused := graphtest.RequireFault(t, c.err, c.code)
		require.Equal(t, 503, refused.Status(), name)
		require.Positive(t, refused.Retry())
		require.Contains(t, refused.Message, "cannot be switched on yet", name)
		for _, lack := range c.lacks {
			require.Contains(t, refused.Message, lack, name)
		}
	}
	require.Equal(t, before, o.state(), "nothing was changed, nothing audited")
}

func TestSwitchingOffIsAlwaysAllowed(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	o.Agent()
	o.Exec(`UPDATE settings SET email_gate_enabled = true, restore_enabled = true, lifecycle_activated_at = stoa_now() - interval '15 days',
		email_requirement_activated_at = stoa_now() - interval '15 days'`)
	since := graphtest.Got(o.Operator.Settings(o.ctx))(t)
	require.NoError(t, o.enable(graphtest.Ptr(false), graphtest.Ptr(false)))
	off := graphtest.Got(o.Operator.DeactivateLifecycle(o.ctx, "too early"))(t)
	require.Nil(t, off.LifecycleActivatedAt)
	require.NotNil(t, off.EmailRequirementActivatedAt)
	const free = "SELECT count(*) FROM bots b WHERE stoa_active(b)"
	require.Zero(t, o.Count(free))
	off = graphtest.Got(o.Operator.DeactivateEmailRequirement(o.ctx, "too strict"))(t)
	require.EqualValues(t, 1, o.Count(free))
	require.Nil(t, off.EmailRequirementActivatedAt)
	require.False(t, off.EmailGateEnabled || off.RestoreEnabled)

	entries := o.entries()
	require.Len(t, entries, 3)
	for _, e := range entries[1:] {
		when := graphtest.Got(time.Parse(time.RFC3339Nano, e.Details["activatedAt"].(string)))(t)
		require.True(t, when.Equal(*since.LifecycleActivatedAt), "the audit log keeps the time of activation")
	}
	graphtest.OK(t, "a repeat")(o.Operator.DeactivateLifecycle(o.ctx, "to be sure"))
	require.Nil(t, o.entries()[3].Details["activatedAt"])
}

func TestActivationKeepsItsTime(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	o.Owners.SendsMail = true
	first := graphtest.Got(o.Operator.ActivateLifecycle(o.ctx, "the time has come"))(t)
	require.NotNil(t, first.LifecycleActivatedAt)
	require.Nil(t, first.EmailRequirementActivatedAt)
	o.Shift(48 * time.Hour)
	again := graphtest.Got(o.Operator.ActivateLifecycle(o.ctx, "once more"))(t)
	require.True(t, first.LifecycleActivatedAt.Equal(*again.LifecycleActivatedAt))

	_, err := o.Operator.ActivateEmailRequirement(o.ctx, "that too")
	require.NotContains(t, graphtest.RequireFault(t, err, fault.VerificationSetupPending).Message, "mail,")
	graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{OperatorName: graphtest.Ptr("Ada"), OperatorContactEmail: graphtest.Ptr("ada@example.org")}, "why"))
	graphtest.OK(t)(o.Operator.PublishDocument(o.ctx, terms("1"), "why"))
	email := graphtest.Got(o.Operator.ActivateEmailRequirement(o.ctx, "that too"))(t)
	require.Equal(t, 48*time.Hour, email.EmailRequirementActivatedAt.Sub(*first.LifecycleActivatedAt).Round(time.Hour))
	require.NoError(t, o.enable(graphtest.Ptr(true), graphtest.Ptr(true)))

	graphtest.OK(t)(o.Operator.DeactivateLifecycle(o.ctx, "a pause"))
	later := graphtest.Got(o.Operator.ActivateLifecycle(o.ctx, "anew"))(t)
	require.Equal(t, 48*time.Hour, later.LifecycleActivatedAt.Sub(*first.LifecycleActivatedAt).Round(time.Hour), "it begins anew")
}
