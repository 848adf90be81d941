package owners_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
)

func (w *world) requestRestore(handle, email string) {
	w.t.Helper()
	asked := graphtest.Got(w.Owners.RequestRestore(anyone(), owners.RestoreInput{Handle: &handle, Email: &email}))(w.t)
	require.Equal(w.t, &owners.Requested{Requested: true}, asked)
	w.examineRestores()
}

func TestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.org"
	made := w.register("ada", email)
	w.Exec("UPDATE bots SET state = 'trash', last_active_at = stoa_now() - interval '1 year' WHERE id = $1", made.Bot.ID)
	w.Exec("INSERT INTO trash_notices (bot_id, created_at, mail_id) VALUES ($1, stoa_now(), gen_random_uuid())", made.Bot.ID)
	w.requestRestore("ada", "Ada@EXAMPLE.org")
	w.requestRestore("ada", email)
	mail := w.lastMail(email)
	older := w.read(w.Mails(email)[1])

	shown := graphtest.Got(w.Owners.Restoration(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, owners.LinkOpen, shown.State)
	require.Equal(t, "ada", shown.Handle)
	require.Empty(t, shown.Token)
	w.as(made.Token) // looking changed nothing

	restored := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.NotEqual(t, made.Token, restored.Token)
	_, err := w.Auth.Authenticate(context.Background(), made.Token, false)
	requireFault(t, err, fault.Unauthorized)
	own := graphtest.Got(w.Bots.Me(w.as(restored.Token)))(t)
	require.Equal(t, "active", own.Bot.Lifecycle.State)
	require.Zero(t, w.Count("SELECT count(*) FROM trash_notices"))
	moved := graphtest.Got(w.Bots.Trash(t.Context()))(t)
	require.Zero(t, moved)
	require.EqualValues(t, 5_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", made.Bot.ID))

	again := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, restored.Token, again.Token)
	require.Equal(t, restored.TokenExpiresAt.Time.UTC(), again.TokenExpiresAt.Time.UTC())
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM tokens"))
	shown = graphtest.Got(w.Owners.Restoration(t.Context(), older.id, older.token))(t)
	require.Equal(t, owners.LinkReplaced, shown.State)

	w.Shift(10*time.Minute + time.Second)
	late := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, owners.LinkDone, late.State)
	require.Empty(t, late.Token)
}

func TestRestoreIsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.org"
	made := w.register("ada", email)
	w.ungated()
	sent := len(w.Mails(email))
	for _, c := range []struct{ handle, email, change string }{
		{"nobody", email, ""},
		{"ada", "bea@example.org", ""},
		{"agent_1", email, ""},
		{"ada", email, "UPDATE bots SET suspended_at = stoa_now() WHERE handle = 'ada'"},
		{"ada", email, "UPDATE bots SET suspended_at = NULL, state = 'deleted' WHERE handle = 'ada'"},
	} {
		if c.change != "" {
			w.Exec(c.change)
		}
		w.requestRestore(c.handle, c.email)
	}
	require.Len(t, w.Mails(email), sent)
	require.Empty(t, w.Mails("bea@example.org"))

	w.Exec("UPDATE bots SET state = 'active' WHERE handle = 'ada'")
	for range 5 {
		w.requestRestore("ada", email)
	}
	require.Len(t, w.Mails(email), sent+3, "three an hour")
	w.Shift(61 * time.Minute)
	w.requestRestore("ada", email)
	require.Len(t, w.Mails(email), sent+4)

	mail := w.lastMail(email)
	w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", made.Bot.ID)
	refused := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, owners.LinkRefused, refused.State)
	require.Empty(t, refused.Token)
	w.Exec("UPDATE bots SET suspended_at = NULL")
	w.Shift(24 * time.Hour)
	expired := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, owners.LinkExpired, expired.State)

	w.Exec("UPDATE settings SET restore_enabled = false")
	_, err := w.Owners.RequestRestore(anyone(), owners.RestoreInput{})
	requireFault(t, err, fault.LifecycleSetupPending)
	w.Exec("UPDATE settings SET restore_enabled = true")
	_, err = w.Owners.RequestRestore(anyone(), owners.RestoreInput{Handle: graphtest.Ptr("ada"), Email: graphtest.Ptr("x")})
	requireFault(t, err, fault.InvalidInput)
}

// Mail goes to the local part as the owner wrote it when the address was verified, whatever the spelling in the request.
// Comparisons ignore the spelling.
func TestMailGoesToTheAddressAsItWasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const written = "Zoe.Owner+x@example.org"
	w.register("zoe", "Zoe.Owner+x@EXAMPLE.org")
	require.Len(t, w.Mails(written), 1)
	w.requestRestore("zoe", "ZOE.owner+X@example.org")
	require.Len(t, w.Mails(written), 2)
	require.Len(t, w.Email.Mailer.(*graphtest.Mailbox).Addresses(), 1)
	for i := range 2 {
		w.register(fmt.Sprintf("zoe_%d", i), []string{"zoe.owner+x@example.org", "ZOE.OWNER+X@example.org"}[i])
	}
	require.EqualValues(t, 3, w.Count("SELECT passports FROM owner_emails"), "they are one address")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM owner_emails"))
}

// A restore pauses webhooks, because a thief may have added them.
func TestARestorePausesWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.org"
	made := w.register("ada", email)
	w.Exec(`INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing, confirmed_at)
		VALUES (gen_random_uuid(), stoa_now(), stoa_now(), $1, 'https://thief.example/', 'thief.example', '["order.changed"]', 'v1', stoa_now())`, made.Bot.ID)
	w.requestRestore("ada", email)
	mail := w.lastMail(email)
	graphtest.OK(t)(w.Owners.Restore(t.Context(), mail.id, mail.token))
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM webhooks
		WHERE state = 'paused' AND last_failure_error = 'restored' AND last_failure_at IS NOT NULL AND secret_number = 1`))
	w.Exec("UPDATE webhooks SET state = 'active'")
	graphtest.OK(t)(w.Owners.Restore(t.Context(), mail.id, mail.token))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM webhooks WHERE state = 'active'"), "a repeat changes nothing")
}
