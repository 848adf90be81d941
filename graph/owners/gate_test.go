package owners_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func TestRequirements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := graphtest.Got(w.Owners.RegistrationRequirements(anyone()))(t)
	require.True(t, got.OwnerConfirmationRequired && got.EmailGateEnabled)
	require.Equal(t, []int{600, 5, 60, 3},
		[]int{got.OTPTTLSeconds, got.MaxCodeAttempts, got.ResendAfterSeconds, got.LifetimeAgentLimit})
	require.Equal(t, owners.Operator{Name: "Ada", ContactEmail: "ada@stoa.example"}, got.Operator)
	require.Equal(t, "open", got.RegistrationMode)
	require.False(t, got.ProfileGuidance.AvatarRequiredForRegistration)
	require.Len(t, got.Documents, 1)
	document := got.Documents[0]
	require.Equal(t, origin+"/owner/documents/"+document.ID.String(), document.URL, "without another address it is read here")
	read := graphtest.Got(w.Owners.ReadDocument(t.Context(), document.ID))(t)
	sum := sha256.Sum256([]byte(read.Text))
	require.Equal(t, hex.EncodeToString(sum[:]), document.SHA256)

	w.Exec("UPDATE documents SET withdrawn_at = stoa_now()")
	graphtest.Refused(t, fault.VerificationSetupPending)(w.Owners.RegistrationRequirements(anyone()))
	graphtest.Refused(t, fault.VerificationSetupPending)(w.ask(w.applicant("ada", "ada@example.org")))
	w.Exec("UPDATE settings SET email_gate_enabled = false")
	got = graphtest.Got(w.Owners.RegistrationRequirements(anyone()))(t, "nothing is needed")
	require.False(t, got.OwnerConfirmationRequired)
	require.NotNil(t, got.Documents)
	graphtest.Refused(t, fault.VerificationSetupPending)(w.ask(w.applicant("ada", "ada@example.org")))
}

func TestRegistrationThroughTheGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.applicant("ada", "Ada+x@Example.org")
	in := bots.RegisterInput{Handle: &a.handle, DisplayName: graphtest.Ptr("A"), EncryptionPublicKey: &a.key}
	graphtest.Refused(t, fault.Forbidden)(w.Bots.RegisterBot(anyone(), in))

	before := w.Now()
	asked := graphtest.Got(w.ask(a))(t)
	require.Equal(t, 60, asked.RetryAfter)
	require.True(t, asked.OwnerConfirmationRequired)
	require.Len(t, asked.Documents, 1)
	require.WithinDuration(t, before.Add(10*time.Minute), asked.ExpiresAt, time.Minute)
	mail := w.lastMail("Ada+x@example.org")

	graphtest.Refused(t, fault.StateConflict)(w.verify(mail.id, mail.code))
	require.Zero(t, w.Count("SELECT wrong_codes FROM email_challenges"), "it costs no attempt")
	w.confirm(mail)
	_, confirmed, err := w.Owners.Confirm(t.Context(), mail.id, mail.token, []uuid.UUID{asked.Documents[0].ID})
	require.NoError(t, err)
	require.False(t, confirmed, "it was confirmed already")
	proof := graphtest.Got(w.verify(mail.id, mail.code))(t)
	graphtest.Refused(t, fault.InvalidInput)(w.verify(mail.id, mail.code))

	in = a.registration(mail.id, proof)
	other := in
	other.Handle = graphtest.Ptr("bob")
	graphtest.Refused(t, fault.InvalidInput)(w.Bots.RegisterBot(anyone(), other))
	other = in
	other.EncryptionPublicKey = graphtest.Ptr(newKey(t))
	graphtest.Refused(t, fault.InvalidInput)(w.Bots.RegisterBot(anyone(), other))
	other = in
	other.OwnerVerificationToken = graphtest.Ptr(strings.ToUpper(*in.OwnerVerificationToken))
	graphtest.Refused(t, fault.InvalidInput)(w.Bots.RegisterBot(anyone(), other))
	other = in
	for _, malformed := range []string{"no id", "urn:uuid:" + mail.id.String(), "{" + mail.id.String() + "}", strings.ReplaceAll(mail.id.String(), "-", "")} {
		other.OwnerChallengeID = &malformed
		graphtest.Refused(t, fault.InvalidInput)(w.Bots.RegisterBot(anyone(), other))
	}

	made := graphtest.Got(w.Bots.RegisterBot(anyone(), in))(t)
	card := graphtest.Got(w.Onboarding.Onboarding(w.as(made.Token)))(t)
	require.Equal(t, "verified", card.EmailVerification.Status)
	require.Equal(t, "a***@example.org", *card.EmailVerification.EmailHint)
	require.EqualValues(t, 1, w.Count("SELECT passports FROM owner_emails WHERE address = 'ada+x@example.org'"))
	require.EqualValues(t, 1, w.Count("SELECT jsonb_array_length(documents) FROM bot_owners"), "the confirmed documents are on record")

	require.Equal(t, made, graphtest.Got(w.Bots.RegisterBot(anyone(), in))(t))
	changed := in
	changed.Bio = graphtest.Ptr("other")
	graphtest.Refused(t, fault.RegistrationReplayConflict)(w.Bots.RegisterBot(anyone(), changed))
	w.Shift(31 * time.Minute)
	graphtest.Refused(t, fault.InvalidInput)(w.Bots.RegisterBot(anyone(), in))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM bots"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tokens"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'grant' AND bot_id IS NOT NULL"))
	require.Zero(t, w.Count(`SELECT count(*) FROM email_challenges c WHERE c::text LIKE '%' || $1 || '%'`, proof.VerificationToken), "no secret is stored")
}

func TestCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.applicant("ada", "ada@example.org")
	wrong := func(code string) string { return fmt.Sprintf("%06d", (int(code[0]-'0')+1)%10*100000+1) }

	t.Run("five wrong ones end the challenge", func(t *testing.T) {
		graphtest.OK(t)(w.ask(a))
		mail := w.lastMail(a.email)
		w.confirm(mail)
		for range 5 {
			graphtest.Refused(t, fault.InvalidInput)(w.verify(mail.id, wrong(mail.code)))
		}
		graphtest.Refused(t, fault.InvalidInput)(w.verify(mail.id, mail.code))
		shown := graphtest.Got(w.Owners.Confirmation(t.Context(), mail.id, mail.token))(t)
		require.Equal(t, owners.LinkSpent, shown.State)
	})
	t.Run("a repeat waits a minute and ends the code before", func(t *testing.T) {
		refused := graphtest.RequireFault(t, graphtest.Err(w.ask(a)), fault.RateLimited)
		require.InDelta(t, 60, refused.Retry().Seconds(), 2)
		old := w.lastMail(a.email)
		w.Shift(61 * time.Second)
		graphtest.OK(t)(w.ask(a))
		shown := graphtest.Got(w.Owners.Confirmation(t.Context(), old.id, old.token))(t)
		require.Equal(t, owners.LinkReplaced, shown.State)
		graphtest.Refused(t, fault.InvalidInput)(w.verify(old.id, old.code))
		fresh := w.lastMail(a.email)
		w.confirm(fresh)
		graphtest.OK(t)(w.verify(fresh.id, fresh.code))
	})
	t.Run("they expire", func(t *testing.T) {
		b := w.applicant("bea", "bea@example.org")
		graphtest.OK(t)(w.ask(b))
		mail := w.lastMail(b.email)
		w.confirm(mail)
		w.Shift(10*time.Minute + time.Second)
		graphtest.Refused(t, fault.InvalidInput)(w.verify(mail.id, mail.code))
	})
	t.Run("an unknown challenge is answered as a wrong code", func(t *testing.T) {
		_, known := w.verify(w.lastMail(a.email).id, "000000")
		_, unknown := w.verify(uuid.New(), "000000")
		require.Equal(t, known.Error(), unknown.Error())
	})
}

func TestAnAddressHoldsThreePassportsForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.org"
	for i := range 3 {
		made := w.register(fmt.Sprintf("ada_%d", i), email)
		w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", made.Bot.ID)
	}
	known := graphtest.Got(w.ask(w.applicant("ada_3", email)))(t)
	mails := w.Mails(email)
	require.Equal(t, "A registration on Stoa was refused", mails[len(mails)-1].Subject)
	unknown := graphtest.Got(w.ask(w.applicant("bea", "bea@example.org")))(t)
	unknown.ChallengeID, unknown.ExpiresAt = known.ChallengeID, known.ExpiresAt
	require.Equal(t, unknown, known, "the answer tells nothing")
	w.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", known.ChallengeID)
	graphtest.Refused(t, fault.InvalidInput)(w.verify(known.ChallengeID, w.Email.Code(known.ChallengeID)))

	agent := w.ungated()
	graphtest.Refused(t, fault.StateConflict)(w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: graphtest.Ptr(email)}))
}

// Of five proofs of one address only three can be used, because an address has three passports.
func TestTheLastPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inputs := make([]bots.RegisterInput, 5)
	for i := range inputs {
		a := w.applicant(fmt.Sprintf("ada_%d", i), "ada@example.org")
		inputs[i] = a.registration(w.prove(a))
	}
	codes := graphtest.AtOnce(5, func(i int) error { return graphtest.Err(w.Bots.RegisterBot(anyone(), inputs[i])) })
	require.Equal(t, map[fault.Code]int{"": 3, fault.StateConflict: 2}, codes.Count())
	require.EqualValues(t, 3, w.Count("SELECT passports FROM owner_emails"))
	require.EqualValues(t, 3, w.Count("SELECT count(*) FROM bots"))
}

// A proof does not outlive its address, whose erasure moves the count of passports to a place that registration does not read.
func TestAProofDiesWithItsAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const address = "ada@example.org"
	for _, handle := range []string{"ada_x", "ada_y"} {
		me := w.as(w.register(handle, address).Token)
		id := uuid.NewString()
		graphtest.OK(t)(w.Lifecycle.RequestErasure(me, lifecycle.ErasureInput{OperationID: &id, ConfirmHandle: &handle}))
	}
	w.Shift(7*24*time.Hour - 10*time.Minute)
	inputs := make([]bots.RegisterInput, 3)
	for i := range inputs {
		a := w.applicant(fmt.Sprintf("ada_%d", i), address)
		inputs[i] = a.registration(w.prove(a))
	}
	w.Shift(11 * time.Minute)
	require.EqualValues(t, 2, graphtest.Got(w.Lifecycle.Erase(t.Context()))(t))
	for _, in := range inputs {
		graphtest.Refused(t, fault.InvalidInput)(w.Bots.RegisterBot(anyone(), in))
	}
	w.register("ada_again", address)
	a := w.applicant("ada_full", address)
	graphtest.OK(t)(w.ask(a))
	require.Zero(t, w.Count("SELECT count(*) FROM email_challenges WHERE handle = 'ada_full' AND mailed"))
	require.EqualValues(t, 3, w.Count("SELECT sum(passports) FROM owner_emails"))
}

// A refused registration stores no address.
func TestARefusedProofLeavesNoAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.applicant("ada", "ada@example.org")
	in := a.registration(w.prove(a))
	w.Exec("UPDATE settings SET registration_mode = 'CLOSED'")
	graphtest.Refused(t, fault.Forbidden)(w.Bots.RegisterBot(anyone(), in))
	require.Zero(t, w.Count("SELECT count(*) FROM owner_emails"))
}

func TestOneCodeIsVerifiedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.applicant("ada", "ada@example.org")
	graphtest.OK(t)(w.ask(a))
	mail := w.lastMail(a.email)
	w.confirm(mail)
	proofs := make(chan *owners.Proof, 50)
	graphtest.AtOnce(50, func(int) error {
		proof, err := w.verify(mail.id, mail.code)
		if err == nil {
			proofs <- proof
		}
		return err
	})
	require.Len(t, proofs, 1)

	in := a.registration(mail.id, <-proofs)
	answers := make([]*bots.Registration, 20)
	graphtest.AtOnce(len(answers), func(i int) (err error) {
		answers[i], err = w.Bots.RegisterBot(anyone(), in)
		return err
	})
	for _, answer := range answers {
		require.Equal(t, answers[0], answer)
		require.NotNil(t, answer)
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tokens"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'grant' AND bot_id IS NOT NULL"))
}

func TestLimitsOfChallenges(t *testing.T) {
	t.Parallel()
	t.Run("ten mails a mailbox in 24 hours, whatever the suffix and the spelling", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		mails := 0
		for i := range 14 {
			a := w.applicant(fmt.Sprintf("ada_%d", i), fmt.Sprintf([]string{"ada+%d@example.org", "ADA+x%d@Example.org"}[i%2], i))
			require.NotEmpty(t, graphtest.Got(w.ask(a))(t).Documents)
			mails += len(w.Mails(strings.Replace(a.email, "Example", "example", 1)))
		}
		require.Equal(t, 10, mails)
		graphtest.OK(t)(w.ask(w.applicant("ada_99", "ada@example.org")))
		require.Empty(t, w.Mails("ada@example.org"))
		graphtest.OK(t)(w.ask(w.applicant("bea", "bea+1@example.org")))
		require.Len(t, w.Mails("bea+1@example.org"), 1)
		w.Shift(24*time.Hour + time.Minute)
		graphtest.OK(t)(w.ask(w.applicant("ada_100", "ada@example.org")))
		require.Len(t, w.Mails("ada@example.org"), 1)
	})
	t.Run("ten at once, of many suffixes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		graphtest.AtOnce(20, func(i int) error {
			return graphtest.Err(w.ask(w.applicant(fmt.Sprintf("ada_%d", i), fmt.Sprintf("ada+%d@example.org", i))))
		})
		require.EqualValues(t, 10, w.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL"))
	})
	t.Run("codes take three quarters of the mails of an hour", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, graphtest.WithQuotas(limits.Quotas{MailsPerHour: 8}))
		w.register("owned", "owner@example.org") // the first code
		for i := range 8 {
			a := w.applicant(fmt.Sprintf("ada_%d", i), fmt.Sprintf("ada_%d@example.org", i))
			_, err := w.ask(a)
			if i < 5 {
				require.NoError(t, err)
				require.Len(t, w.Mails(a.email), 1)
				continue
			}
			require.Positive(t, graphtest.RequireFault(t, err, fault.RateLimited).Retry())
			require.Empty(t, w.Mails(a.email))
		}
		require.EqualValues(t, 6, w.Count("SELECT count(*) FROM email_challenges"), "a code that cannot go out in time is not made")
		w.requestRestore("owned", "owner@example.org")
		require.Len(t, w.Mails("owner@example.org"), 2, "others have the last quarter")
		w.Shift(time.Hour + time.Minute)
		graphtest.OK(t)(w.ask(w.applicant("cid", "cid@example.org")))
	})
	t.Run("five an hour a client", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, graphtest.WithQuotas(limits.Defaults()))
		for i := range 6 {
			a := w.applicant(fmt.Sprintf("ada_%d", i), fmt.Sprintf("ada_%d@example.org", i))
			_, err := w.ask(a)
			if i < 5 {
				require.NoError(t, err)
				continue
			}
			require.Positive(t, graphtest.RequireFault(t, err, fault.RateLimited).Retry())
			require.Empty(t, w.Mails(a.email))
		}
	})
}

func TestInputOfTheGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := w.applicant("ada", "ada@example.org")
	for _, c := range []struct {
		change func(*applicant)
		field  string
	}{
		{func(a *applicant) { a.email = "ada" }, "email"},
		{func(a *applicant) { a.email = "ada@example.org\r\nBcc: x@example.org" }, "email"},
		{func(a *applicant) { a.handle = "Ada" }, "handle"},
		{func(a *applicant) { a.key = "AAAA" }, "encryption_public_key"},
	} {
		bad := good
		c.change(&bad)
		refused := graphtest.RequireFault(t, graphtest.Err(w.ask(bad)), fault.InvalidInput)
		require.Contains(t, refused.Fields, c.field)
	}
	w.register("taken", "bea@example.org")
	for _, handle := range []string{"taken", "admin"} {
		graphtest.Refused(t, fault.HandleUnavailable)(w.ask(w.applicant(handle, "cid@example.org")))
	}
	for _, code := range []string{"12345", "1234567", "12345a", "１２３４５６"} {
		graphtest.RefusedField(t, fault.InvalidInput, "code")(w.verify(uuid.New(), code))
	}
	require.Empty(t, w.Mails("cid@example.org"))
}
