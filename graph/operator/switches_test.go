package operator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

// enable switches the email gate or restoring by email on or off.
func (o *office) enable(gate, restore *bool) error {
	_, err := o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{EmailGateEnabled: gate, RestoreEnabled: restore}, "why")
	return err
}

func TestSwitchesThatNeedMailStayOff(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	before := o.state()
	yes, no := graphtest.Ptr(true), graphtest.Ptr(false)
	activate := func(do func() (*ent.Setting, error)) error { _, err := do(); return err }
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
		"lifecycle":         {activate(func() (*ent.Setting, error) { return o.Operator.ActivateLifecycle(o.ctx, "why") }), fault.LifecycleSetupPending, []string{mail}},
		"email requirement": {activate(func() (*ent.Setting, error) { return o.Operator.ActivateEmailRequirement(o.ctx, "why") }), fault.VerificationSetupPending, []string{mail}},
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

	// Existing setup is not reported as missing.
	_, err := o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{OperatorName: graphtest.Ptr("Ada"), OperatorContactEmail: graphtest.Ptr("ada@example.org")}, "why")
	require.NoError(t, err)
	graphtest.OK(t)(o.Operator.PublishDocument(o.ctx, terms("1"), "why"))
	refused := graphtest.RequireFault(t, o.enable(yes, nil), fault.VerificationSetupPending)
	require.NotContains(t, refused.Message, "contact address")
	require.NotContains(t, refused.Message, "document")
	require.Contains(t, refused.Message, mail)
}

func TestSwitchingOffIsAlwaysAllowed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Exec("UPDATE settings SET email_gate_enabled = true, restore_enabled = true, lifecycle_activated_at = stoa_now(), email_requirement_activated_at = stoa_now()")
	since := graphtest.Got(o.Operator.Settings(o.ctx))(t)
	require.NoError(t, o.enable(graphtest.Ptr(false), graphtest.Ptr(false)))
	off := graphtest.Got(o.Operator.DeactivateLifecycle(o.ctx, "too early"))(t)
	require.Nil(t, off.LifecycleActivatedAt)
	require.NotNil(t, off.EmailRequirementActivatedAt)
	off = graphtest.Got(o.Operator.DeactivateEmailRequirement(o.ctx, "too strict"))(t)
	require.Nil(t, off.EmailRequirementActivatedAt)
	require.False(t, off.EmailGateEnabled || off.RestoreEnabled)

	entries := o.entries()
	require.Len(t, entries, 3)
	for _, e := range entries[1:] {
		when := graphtest.Got(time.Parse(time.RFC3339Nano, e.Details["activatedAt"].(string)))(t)
		require.True(t, when.Equal(*since.LifecycleActivatedAt), "the audit log keeps the time of activation")
	}
	_, err := o.Operator.DeactivateLifecycle(o.ctx, "to be sure")
	require.NoError(t, err, "a repeat")
	require.Nil(t, o.entries()[3].Details["activatedAt"])
}

// Agents are free after a restriction was taken back.
func TestAfterDeactivationAgentsAreFree(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Exec("UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days'")
	const free = "SELECT count(*) FROM bots b WHERE stoa_active(b)"
	o.Agent()
	require.Zero(t, o.Count(free))
	graphtest.OK(t)(o.Operator.DeactivateEmailRequirement(o.ctx, "why"))
	require.Positive(t, o.Count(free))
}

func TestActivationKeepsItsTime(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Owners.SendsMail = true
	first := graphtest.Got(o.Operator.ActivateLifecycle(o.ctx, "the time has come"))(t)
	require.NotNil(t, first.LifecycleActivatedAt)
	require.Nil(t, first.EmailRequirementActivatedAt)
	o.Shift(48 * time.Hour)
	again := graphtest.Got(o.Operator.ActivateLifecycle(o.ctx, "once more"))(t)
	require.True(t, first.LifecycleActivatedAt.Equal(*again.LifecycleActivatedAt))

	_, err := o.Operator.ActivateEmailRequirement(o.ctx, "that too")
	require.NotContains(t, graphtest.RequireFault(t, err, fault.VerificationSetupPending).Message, "mail,")
	_, err = o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{OperatorName: graphtest.Ptr("Ada"), OperatorContactEmail: graphtest.Ptr("ada@example.org")}, "why")
	require.NoError(t, err)
	graphtest.OK(t)(o.Operator.PublishDocument(o.ctx, terms("1"), "why"))
	email := graphtest.Got(o.Operator.ActivateEmailRequirement(o.ctx, "that too"))(t)
	require.Equal(t, 48*time.Hour, email.EmailRequirementActivatedAt.Sub(*first.LifecycleActivatedAt).Round(time.Hour))
	require.NoError(t, o.enable(graphtest.Ptr(true), graphtest.Ptr(true)))

	graphtest.OK(t)(o.Operator.DeactivateLifecycle(o.ctx, "a pause"))
	later := graphtest.Got(o.Operator.ActivateLifecycle(o.ctx, "anew"))(t)
	require.Equal(t, 48*time.Hour, later.LifecycleActivatedAt.Sub(*first.LifecycleActivatedAt).Round(time.Hour), "it begins anew")
}

func TestReinstatingLeadsOutOfTheTrash(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	agent := o.Agent()
	o.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	back := graphtest.Got(o.Operator.ReinstateBot(o.ctx, agent.ID, "it was asked for"))(t)
	require.EqualValues(t, "active", back.State)
}
