package operatorcli

import (
	"context"
	"fmt"

	"stoa/cmd/stoa/operatorcli/client"
)

type settingsCommand struct {
	Show                       showSettings               `cmd:"" default:"1" help:"Show the settings."`
	Set                        setSettings                `cmd:"" help:"Change those that are named."`
	ActivateLifecycle          activateLifecycle          `cmd:"" help:"Begin to count agents' inactivity; needs mail."`
	DeactivateLifecycle        deactivateLifecycle        `cmd:"" help:"Stop counting it."`
	ActivateEmailRequirement   activateEmailRequirement   `cmd:"" help:"Restrict agents without a verified owner email, from 14 days on; needs mail."`
	DeactivateEmailRequirement deactivateEmailRequirement `cmd:"" help:"End that restriction at once."`
}

type showSettings struct{}

// Run implements kong's command.
func (showSettings) Run(d *deps) error {
	got, err := client.GetSettings(context.Background(), d.client)
	if err != nil {
		return err
	}
	return d.settings(got.Settings)
}

type setSettings struct {
	reason

	RegistrationMode string  `enum:"open,invitation,closed," default:"" env:"-" placeholder:"MODE" help:"open, invitation or closed."`
	EmailGate        *bool   `negatable:"" env:"-" help:"Whether registration needs an owner's verified email."`
	Rewards          *bool   `negatable:"" env:"-" help:"Whether activity is rewarded."`
	Restore          *bool   `negatable:"" env:"-" help:"Whether an owner's email can restore access."`
	FeeBps           *int    `env:"-" help:"Fee on new orders in basis points, 0 to 10000."`
	OperatorName     *string `env:"-" help:"Who runs this."`
	ContactEmail     *string `env:"-" help:"How to reach them."`
	Website          *string `env:"-" help:"Their page."`
}

// modes are the registration modes by their names on the command line.
var modes = map[string]client.RegistrationMode{
	"open": client.RegistrationModeOpen, "invitation": client.RegistrationModeInvitation, "closed": client.RegistrationModeClosed,
}

// Run implements kong's command.
func (c setSettings) Run(d *deps) error {
	input := client.SettingsInput{
		EmailGateEnabled: c.EmailGate, RewardsEnabled: c.Rewards, RestoreEnabled: c.Restore, FeeBps: c.FeeBps,
		OperatorName: c.OperatorName, OperatorContactEmail: c.ContactEmail, OperatorWebsite: c.Website,
	}
	if mode, ok := modes[c.RegistrationMode]; ok {
		input.RegistrationMode = &mode
	}
	if input == (client.SettingsInput{}) {
		return &UsageError{"nothing to set: name at least one setting"}
	}
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.UpdateSettings(context.Background(), d.client, input, why)
	if err != nil {
		return err
	}
	return d.settings(got.UpdateSettings)
}

type activateLifecycle struct{ reason }

// Run implements kong's command.
func (c activateLifecycle) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.ActivateLifecycle(context.Background(), d.client, why)
	if err != nil {
		return err
	}
	return d.settings(got.ActivateLifecycle)
}

type deactivateLifecycle struct{ reason }

// Run implements kong's command.
func (c deactivateLifecycle) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.DeactivateLifecycle(context.Background(), d.client, why)
	if err != nil {
		return err
	}
	return d.settings(got.DeactivateLifecycle)
}

type activateEmailRequirement struct{ reason }

// Run implements kong's command.
func (c activateEmailRequirement) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.ActivateEmailRequirement(context.Background(), d.client, why)
	if err != nil {
		return err
	}
	return d.settings(got.ActivateEmailRequirement)
}

type deactivateEmailRequirement struct{ reason }

// Run implements kong's command.
func (c deactivateEmailRequirement) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.DeactivateEmailRequirement(context.Background(), d.client, why)
	if err != nil {
		return err
	}
	return d.settings(got.DeactivateEmailRequirement)
}

func (d *deps) settings(s client.Setup) error {
	return d.detail(s,
		field{"Registration", string(s.RegistrationMode)},
		field{"Email gate", yesNo(s.EmailGateEnabled)},
		field{"Rewards", yesNo(s.RewardsEnabled)},
		field{"Restore", yesNo(s.RestoreEnabled)},
		field{"Fee", fmt.Sprintf("%d basis points", s.FeeBps)},
		field{"Operator", s.OperatorName},
		field{"Contact", s.OperatorContactEmail},
		field{"Website", s.OperatorWebsite},
		field{"Lifecycle since", formatTime(s.LifecycleActivatedAt)},
		field{"Emails needed since", formatTime(s.EmailRequirementActivatedAt)},
		field{"Changed", formatTime(&s.UpdatedAt)},
	)
}
