package bots_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

// invited makes registration require an invitation, and creates one code with that number of places.
func invited(w *graphtest.World, code string, places int) {
	w.Exec("UPDATE settings SET registration_mode = 'INVITATION'")
	w.Exec("INSERT INTO invitations (id, code_hash, uses, created_at) VALUES (gen_random_uuid(), $1, $2, stoa_now())", bots.HashInvitation(code), places)
}

// count requires these numbers of agents, each with a wallet, its starting grant and a token, and of used places.
func count(t *testing.T, w *graphtest.World, agents, used int64) {
	t.Helper()
	require.Equal(t, agents, w.Count("SELECT count(*) FROM bots"))
	require.Equal(t, agents, w.Count("SELECT count(*) FROM accounts WHERE available_minor = 500000 AND reserved_minor = 0 AND entry_count = 1"))
	require.Equal(t, agents, w.Count("SELECT count(*) FROM accounts"))
	require.Equal(t, 2*agents, w.Count("SELECT count(*) FROM ledger_entries"))
	require.Equal(t, agents, w.Count("SELECT count(*) FROM tokens"))
	require.Equal(t, used, w.Count("SELECT coalesce(sum(used), 0) FROM invitations"))
	require.Empty(t, graphtest.Got(w.Wallet.Reconcile(context.Background()))(t))
}

// call is input for a handle and an invitation.
func call(handle, code string) bots.RegisterInput {
	return input(func(in *bots.RegisterInput) { in.Handle, in.Invitation = &handle, &code })
}

func TestInvitationIsUsedNoMoreThanAllowed(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	invited(w, "three", 3)
	codes := graphtest.AtOnce(20, func(i int) error {
		return graphtest.Err(w.Bots.RegisterBot(context.Background(), call("agent_"+strconv.Itoa(i), "three")))
	})
	require.Equal(t, map[fault.Code]int{"": 3, fault.InvalidInvitation: 17}, codes.Count())
	count(t, w, 3, 3)
}

// An agent that loses the race for a handle does not use up its invitation.
func TestLostRaceForHandleSpendsNoInvitation(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for i := range 20 {
		invited(w, strconv.Itoa(i), 1)
	}
	codes := graphtest.AtOnce(20, func(i int) error {
		return graphtest.Err(w.Bots.RegisterBot(context.Background(), call("ada", strconv.Itoa(i))))
	})
	require.Equal(t, map[fault.Code]int{"": 1, fault.HandleUnavailable: 19}, codes.Count())
	count(t, w, 1, 1)
}

// Refusals come in the order of the faults, and a refused or failed registration leaves nothing.
func TestARefusedRegistrationLeavesNothing(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	graphtest.OK(t)(w.Bots.RegisterBot(context.Background(), call("taken", "")))
	invited(w, "spare", 1)
	for _, c := range []struct {
		name, handle, code, before string
		refusal                    fault.Code
	}{
		{"a taken handle", "taken", "spare", "", fault.HandleUnavailable},
		{"a taken handle without an invitation", "taken", "unknown", "", fault.InvalidInvitation},
		{"a reserved handle", "admin", "spare", "", fault.HandleUnavailable},
		{"a reserved handle without an invitation", "admin", "unknown", "", fault.InvalidInvitation},
		{"no token can be made", "ada", "spare", "ALTER TABLE tokens ADD CONSTRAINT broken CHECK (false) NOT VALID", fault.InternalError},
		{"no entry can be made", "ada", "spare", "ALTER TABLE ledger_entries ADD CONSTRAINT broken CHECK (false) NOT VALID", fault.LedgerConflict},
		{"no wallet can be made", "ada", "spare", "ALTER TABLE accounts ADD CONSTRAINT broken CHECK (false) NOT VALID", fault.LedgerConflict},
		{"closed", "taken", "unknown", "UPDATE settings SET registration_mode = 'CLOSED'", fault.Forbidden},
		{"a reserved handle while closed", "admin", "unknown", "", fault.Forbidden},
	} {
		if c.before != "" {
			w.Exec(c.before)
		}
		_, err := w.Bots.RegisterBot(context.Background(), call(c.handle, c.code))
		require.Equal(t, c.refusal, fault.From(err).Code, "%s: %v", c.name, err)
		count(t, w, 1, 0)
	}
}

func TestOneClockDatesARegistration(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	w.Shift(1000 * time.Hour)
	made := graphtest.Got(w.Bots.RegisterBot(context.Background(), call("ada", "")))(t)
	at := made.Bot.CreatedAt
	require.WithinDuration(t, w.Now(), at, time.Minute)
	require.Equal(t, [2]time.Time{at, at}, [2]time.Time{made.Bot.UpdatedAt, made.Bot.LastActiveAt})
	require.Equal(t, at.Add(720*time.Hour), made.TokenExpiresAt)
	require.Equal(t, time.UTC, at.Location())
	require.Equal(t, time.UTC, made.TokenExpiresAt.Location())
	require.EqualValues(t, 1, w.Count(`
		SELECT count(*) FROM bots b JOIN accounts a ON a.bot_id = b.id JOIN tokens t ON t.bot_id = b.id JOIN ledger_entries e ON e.bot_id = b.id
		WHERE $1 = ALL (ARRAY[b.created_at, b.updated_at, b.last_active_at, a.created_at, t.created_at, e.created_at]) AND t.expires_at = $2`,
		at, made.TokenExpiresAt))

	v := graphtest.Got(w.Auth.Authenticate(context.Background(), made.Token, false))(t)
	own := graphtest.Got(w.Bots.Me(viewer.With(context.Background(), v)))(t)
	require.Equal(t, own.Bot, made.Bot, "the answer is the passport that any later read shows")
}

// The pool repeats a statement whose connection broke before the answer was there, committed or not.
func TestRepeatedStatementReturnsTheSameRegistration(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	invited(w, "one", 1)
	key, opening := make([]byte, 32), wallet.Opening()
	register := func(id uuid.UUID, grant []any) (verdict string, moment, expires time.Time) {
		made, err := w.Bots.Register(t.Context(), &bots.Own{ID: id, Handle: "ada", DisplayName: "Ada", EncryptionPublicKey: key}, "one", grant, opening)
		require.NoError(t, err)
		return made.Verdict, made.Moment.Time, made.TokenExpiresAt.Time
	}
	id, grant := uuid.New(), w.Auth.GrantArgs(auth.NewToken())
	verdict, moment, expires := register(id, grant)
	require.Equal(t, "registered", verdict)
	for _, mode := range []string{"INVITATION", "OPEN", "CLOSED"} {
		w.Exec("UPDATE settings SET registration_mode = $1", mode)
		w.Shift(time.Second)
		again, then, end := register(id, grant)
		require.Equal(t, "registered", again, mode)
		require.Equal(t, [2]time.Time{moment, expires}, [2]time.Time{then, end}, mode)
	}
	for mode, refusal := range map[string]string{"INVITATION": "invalid_invitation", "OPEN": "handle_unavailable", "CLOSED": "forbidden"} {
		w.Exec("UPDATE settings SET registration_mode = $1", mode)
		verdict, _, _ = register(uuid.New(), w.Auth.GrantArgs(auth.NewToken()))
		require.Equal(t, refusal, verdict)
	}
	count(t, w, 1, 1)
}

// A refused registration counts as an attempt.
func TestRefusedRegistrationsCountAsAttempts(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{RegistrationsPerAddressPerHour: 2, RegistrationsPerHour: 100}))
	w.Exec("UPDATE settings SET registration_mode = 'CLOSED'")
	for _, code := range []fault.Code{fault.Forbidden, fault.Forbidden, fault.RegistrationLimited} {
		graphtest.Refused(t, code)(w.Bots.RegisterBot(context.Background(), call("ada", "")))
	}
	require.EqualValues(t, 2, w.Count("SELECT total FROM rate_windows WHERE name = 'registrations'"))
}

func TestRegistrationWithoutADatabase(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	restore := w.Outage()
	err := graphtest.Err(w.Bots.RegisterBot(context.Background(), call("ada", "")))
	require.Contains(t, graphtest.RequireFault(t, err, fault.RegistrationUnavailable).Message, "its answer was lost", "the caller cannot know whether it was made")
	restore()
	graphtest.OK(t)(w.Bots.RegisterBot(context.Background(), call("ada", "")))
	count(t, w, 1, 0)
}
