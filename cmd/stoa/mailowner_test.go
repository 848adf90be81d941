package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// An operator writes to an owner from the terminal: once for each operation, and without seeing the address.
func TestConsoleMailsAnOwner(t *testing.T) {
	t.Parallel()
	url, folder := graphtest.NewDatabase(t), t.TempDir()
	s := startServer(t, append([]string{
		"STOA_DATABASE_URL=" + url, "STOA_DATA_DIR=" + folder, "STOA_SMTP_URL=file:mails", "STOA_MAIL_FROM=stoa@stoa.example",
	}, noLimits...)...)
	o := newOperatorConsole(t, s)
	ada := s.join("Agent", "agent")
	mail := []string{"bots", "mail-owner", ada.Handle, "Please look\nat its orders.", "--reason=two are late"}
	_, _, stderr := o.run(mail...)
	require.Contains(t, stderr, "no owner with a verified address")
	onDatabase(t, url, "INSERT INTO owner_emails (address, created_at, passports) VALUES ('wells@example.org', now(), 1) RETURNING ''")
	onDatabase(t, url, `INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents)
		VALUES ($1, 'wells@example.org', now(), now(), '[]') RETURNING ''`, ada.ID)

	mail = append(mail, "--operation-id=019b0000-abcd-7000-8000-00000000000f")
	said := o.text(mail...)
	require.Regexp(t, `Address hint +w\*\*\*@example\.org`, said)
	require.NotContains(t, said, "wells")
	require.Regexp(t, `Repeated +yes`, o.text(mail...))
	eventually(t, func() bool { return onDatabase(t, url, "SELECT count(*) FROM mails WHERE sent_at IS NOT NULL") == "1" }, "it is not sent")
	require.Contains(t, strings.ReplaceAll(readMail(t, folder).Text, "\r\n", "\n"), `about your agent "`+ada.Handle+"\":\n\n> Please look\n> at its orders.\n")
	require.NotContains(t, strings.Join(strings.Fields(o.text("audit")), " "), "Please look")
	require.Equal(t, "0", onDatabase(t, url, "SELECT count(*) FROM mail_texts WHERE text IS NOT NULL"))
}
