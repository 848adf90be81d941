package operatorcli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"stoa/cmd/stoa/operatorcli/client"
)

type invitationsCommand struct {
	List   listInvitations  `cmd:"" default:"withargs" help:"List invitations, newest first."`
	Create createInvitation `cmd:"" help:"Make an invitation; its code is shown once."`
	Revoke revokeInvitation `cmd:"" help:"End an invitation; who registered with it stays."`
}

type listInvitations struct{ paging }

var invitationColumns = []column[client.InvitationRow]{
	{"id", func(i client.InvitationRow) string { return i.Id }},
	{"state", invitationState},
	{"used", func(i client.InvitationRow) string { return fmt.Sprintf("%d of %d", i.Used, i.Uses) }},
	{"made", func(i client.InvitationRow) string { return ago(i.CreatedAt) }},
	{"expires", func(i client.InvitationRow) string { return formatTime(i.ExpiresAt) }},
	{"note", func(i client.InvitationRow) string { return i.Note }},
}

func invitationState(i client.InvitationRow) string {
	switch {
	case i.RevokedAt != nil:
		return "revoked"
	case i.ExpiresAt != nil && i.ExpiresAt.Before(time.Now()):
		return "expired"
	case i.Used >= i.Uses:
		return "used up"
	default:
		return "valid"
	}
}

// Run implements kong's command.
func (c listInvitations) Run(d *deps) error {
	type edge = *client.ListInvitationsInvitationsInvitationConnectionEdgesInvitationEdge
	rows, err := collect[client.InvitationRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListInvitations(context.Background(), d.client, first, after)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Invitations.Edges, got.Invitations.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, invitationColumns)
}

type createInvitation struct {
	reason

	Uses    *int    `env:"-" help:"How many registrations it allows; 1 unless set."`
	Expires string  `env:"-" placeholder:"WHEN" help:"RFC 3339, a date, or a duration from now such as 36h or 7d; no end unless set."`
	Note    *string `env:"-" help:"For whom it is."`
}

// Run implements kong's command.
func (c createInvitation) Run(d *deps) error {
	expires, err := parseFuture(c.Expires, time.Now())
	if err != nil {
		return err
	}
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.CreateInvitation(context.Background(), d.client, client.InvitationInput{
		Uses: c.Uses, ExpiresAt: expires, Note: c.Note,
	}, why)
	if err != nil {
		return err
	}
	made := got.CreateInvitation
	return d.detail(made,
		field{"Code", made.Code + "  (not shown again)"},
		field{"Id", made.Invitation.Id},
		field{"Uses", strconv.Itoa(made.Invitation.Uses)},
		field{"Expires", formatTime(made.Invitation.ExpiresAt)},
		field{"Note", made.Invitation.Note},
	)
}

// parseFuture reads a time as parseTime does, but a duration counts from now on.
func parseFuture(text string, now time.Time) (*time.Time, error) {
	if ahead, err := parseDuration(text); err == nil {
		found := now.Add(ahead).UTC().Truncate(time.Second)
		return &found, nil
	}
	return parseTime(text, now)
}

type revokeInvitation struct {
	reason

	ID string `arg:"" help:"Id of the invitation."`
}

// Run implements kong's command.
func (c revokeInvitation) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.RevokeInvitation(context.Background(), d.client, c.ID, why)
	if err != nil {
		return err
	}
	return table(d, []client.InvitationRow{got.RevokeInvitation}, invitationColumns)
}
