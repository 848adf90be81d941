package owners_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

func TestLinkingAnOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.ungated()
	other := w.ungated()
	ask := func(email string) (*owners.Challenge, error) {
		return w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: &email})
	}
	enter := func(by *graphtest.Agent, mail letter, code string) (*owners.EmailVerified, error) {
		return w.Owners.VerifyOwnerEmail(by.Ctx, owners.CodeInput{ChallengeID: graphtest.Ptr(mail.id.String()), Code: &code})
	}
	card := graphtest.Got(w.Onboarding.Onboarding(agent.Ctx))(t)
	require.Equal(t, "unverified", card.EmailVerification.Status)
	require.Nil(t, card.EmailVerification.EmailHint)

	require.True(t, graphtest.Got(ask("ada@example.org"))(t).OwnerConfirmationRequired)
	card = graphtest.Got(w.Onboarding.Onboarding(agent.Ctx))(t)
	require.Equal(t, "pending", card.EmailVerification.Status)
	require.Equal(t, "a***@example.org", *card.EmailVerification.EmailHint)
	graphtest.Refused(t, fault.RateLimited)(ask("ada@example.org"))
	w.Shift(time.Minute)

	mistyped := w.lastMail("ada@example.org")
	graphtest.OK(t)(ask("bea@example.org"))
	shown := graphtest.Got(w.Owners.Confirmation(t.Context(), mistyped.id, mistyped.token))(t)
	require.Equal(t, owners.LinkReplaced, shown.State, "an agent has one challenge at a time")

	mail := w.lastMail("bea@example.org")
	shown = graphtest.Got(w.Owners.Confirmation(t.Context(), mail.id, mail.token))(t)
	require.True(t, shown.Links)
	graphtest.Refused(t, fault.StateConflict)(enter(agent, mail, mail.code))
	w.confirm(mail)
	graphtest.Refused(t, fault.InvalidInput)(enter(other, mail, mail.code))
	graphtest.Refused(t, fault.InvalidInput)(w.verify(mail.id, mail.code))
	verified := graphtest.Got(enter(agent, mail, mail.code))(t)
	require.Equal(t, "verified", verified.EmailVerification.Status)
	require.Equal(t, "b***@example.org", *verified.EmailVerification.EmailHint)
	again := graphtest.Got(enter(agent, mail, "000000"))(t, "no second code is looked at")
	require.Equal(t, verified, again)
	graphtest.Refused(t, fault.StateConflict)(ask("cid@example.org"))
	require.EqualValues(t, 1, w.Count("SELECT passports FROM owner_emails WHERE address = 'bea@example.org'"))
}

// Agents that enter codes while the database fails get no more than five attempts.
func TestAWrongCodeThatIsNotCountedIsNotRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.ungated()
	graphtest.OK(t)(w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: graphtest.Ptr("ada@example.org")}))
	mail := w.lastMail("ada@example.org")
	code := []byte(mail.code)
	code[0] = '0' + (code[0]-'0'+1)%10
	wrong := owners.CodeInput{ChallengeID: graphtest.Ptr(mail.id.String()), Code: graphtest.Ptr(string(code))}
	_, err := w.DB.SQL.ExecContext(t.Context(), `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER refuse BEFORE UPDATE OF wrong_codes ON email_challenges FOR EACH ROW EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	graphtest.Refused(t, fault.ServiceUnavailable)(w.Owners.VerifyOwnerEmail(agent.Ctx, wrong))
}

func TestLinkingNeedsMailAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.ungated()
	w.Exec("UPDATE settings SET email_gate_enabled = false, operator_name = ''")
	w.Exec("UPDATE documents SET withdrawn_at = stoa_now()")
	asked := graphtest.Got(w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: graphtest.Ptr("ada@example.org")}))(t)
	require.Empty(t, asked.Documents)
	w.confirm(w.lastMail("ada@example.org"))
	w.Owners.SendsMail = false
	graphtest.Refused(t, fault.VerificationSetupPending)(w.Owners.RequestOwnerEmail(anyone(), owners.OwnerEmailInput{}))
}

// The last condition of a reward to be met may be the verified address.
func TestLinkingEarnsRewards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.ungated()
	w.Exec("UPDATE settings SET rewards_enabled = true")
	w.Exec("UPDATE bots SET specialty = 'echo', bio = 'bio' WHERE id = $1", agent.ID)
	w.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
		VALUES (gen_random_uuid(), stoa_now(), stoa_now(), $1, 'portfolio', 'public', '', 'work')`, agent.ID)
	graphtest.OK(t)(w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: graphtest.Ptr("ada@example.org")}))
	mail := w.lastMail("ada@example.org")
	w.confirm(mail)
	_, err := w.Owners.VerifyOwnerEmail(agent.Ctx, owners.CodeInput{ChallengeID: graphtest.Ptr(mail.id.String()), Code: &mail.code})
	require.NoError(t, err)
	require.Contains(t, w.AskedJobs(), wallet.RewardJob{BotID: agent.ID})
	graphtest.OK(t)(w.Wallet.GrantReward(t.Context(), agent.ID))
	require.EqualValues(t, 7_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
}

func (w *world) requestRestore(handle, email string) {
	asked := graphtest.Got(w.Owners.RequestRestore(anyone(), owners.RestoreInput{Handle: &handle, Email: &email}))(w.t)
	require.Equal(w.t, &owners.Requested{Requested: true}, asked)
	w.examineRestores()
}

// rest/owner tests what the pages show.
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
	restored := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, "active", graphtest.Got(w.Bots.Me(w.as(restored.Token)))(t).Bot.Lifecycle.State)
	require.Zero(t, w.Count("SELECT count(*) FROM trash_notices"))
	require.Zero(t, graphtest.Got(w.Bots.Trash(t.Context()))(t))
	require.EqualValues(t, 5_000_00, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", made.Bot.ID))

	again := graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t)
	require.Equal(t, restored.Token, again.Token)
	require.Equal(t, restored.TokenExpiresAt.Time.UTC(), again.TokenExpiresAt.Time.UTC())
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM tokens"))
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
	require.Equal(t, owners.LinkExpired, graphtest.Got(w.Owners.Restore(t.Context(), mail.id, mail.token))(t).State)

	w.Exec("UPDATE settings SET restore_enabled = false")
	graphtest.Refused(t, fault.LifecycleSetupPending)(w.Owners.RequestRestore(anyone(), owners.RestoreInput{}))
	w.Exec("UPDATE settings SET restore_enabled = true")
	wrong := owners.RestoreInput{Handle: graphtest.Ptr("ada"), Email: graphtest.Ptr("x")}
	graphtest.Refused(t, fault.InvalidInput)(w.Owners.RequestRestore(anyone(), wrong))
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
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL"), "none went to another spelling")
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
