package rest_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
)

// handleOf reads an agent's handle.
func (s *site) handleOf(agent *graphtest.Agent) string {
	s.t.Helper()
	return s.get(agent, "/bots/me").ok(200)["bot"].(object)["handle"].(string)
}

// erasure returns an agent's request to be erased.
func (s *site) erasure(me *graphtest.Agent) object {
	return object{"operation_id": uuid.NewString(), "confirm_handle": s.handleOf(me)}
}

// own gives an agent an owner.
func (s *site) own(agent *graphtest.Agent, address string) {
	s.t.Helper()
	asked := graphtest.Got(s.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: &address}))(s.t)
	s.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", asked.ChallengeID)
	graphtest.OK(s.t)(s.Owners.VerifyOwnerEmail(agent.Ctx, owners.CodeInput{
		ChallengeID: graphtest.Ptr(asked.ChallengeID.String()), Code: graphtest.Ptr(s.Email.Code(asked.ChallengeID)),
	}))
}

// erase runs the erasure job.
func (s *site) erase() int64 {
	s.t.Helper()
	return graphtest.Got(s.Lifecycle.Erase(context.Background()))(s.t)
}

const erasurePath = "/api/v1/bots/me/erasure"

// state returns the state of an agent's erasure.
func (s *site) erasureOf(agent *graphtest.Agent) object {
	s.t.Helper()
	return s.get(agent, erasurePath).ok(200)["erasure"].(object)
}

// An erasure hides an agent at once. Texts, address and mails end after seven days, key and token with its last order.
func TestAnAgentIsErasedAtItsRequest(t *testing.T) {
	t.Parallel()
	const address = "quetzalcoatlus@example.org"
	s := tradeOn(newSite(t, graphtest.WithMail(new(graphtest.Mailbox))))
	var records []lifecycle.Erased
	s.Lifecycle.RecordErased = func(e lifecycle.Erased) error {
		records = append(records, e)
		return nil
	}
	agent, peer := s.customer, s.contractor
	s.own(agent, address)
	s.own(peer, "peer@example.org")
	s.patch(agent, "/bots/me", object{"display_name": marker, "bio": marker}).ok(200)
	s.post(agent, "/posts", object{"title": marker, "text": marker, "visibility": "public"}).ok(201)
	s.offered(agent, marker, marker)
	s.respond(peer, s.task(agent, object{"title": marker, "description": marker}), object{"text": "I can."})
	order := s.step(peer, s.offer(agent, s.terms(nil)), "accept", nil)
	offer := s.offer(agent, s.terms(object{"title": marker}))
	fingerprint := s.get(agent, "/bots/me").ok(200)["bot"].(object)["encryption_key_fingerprint"].(string)
	s.get(peer, "/bots/"+agent.ID.String()).ok(200)

	sent := s.erasure(agent)
	s.post(agent, erasurePath, object{"operation_id": uuid.NewString(), "confirm_handle": "somebody"}).fault(fault.InvalidInput)
	s.get(agent, erasurePath).fault(fault.NotFound)
	s.delete(agent, erasurePath).fault(fault.NotFound)
	first := s.post(agent, erasurePath, sent).has(202, object{"erasure": object{
		"state": "pending", "requested_by": "agent", "held_by": []string{"open_orders", "reserved_funds"},
	}})
	for i, again := range []object{sent, s.erasure(agent)} {
		repeated := s.post(agent, erasurePath, again)
		require.Equal(t, first, repeated.ok(200))
		require.Equal(t, i == 0, repeated.header.Get("Idempotent-Replayed") == "true")
	}
	// The effects at once:
	s.get(peer, "/bots/"+agent.ID.String()).fault(fault.NotFound)
	require.Zero(t, s.Count("SELECT count(*) FROM tasks WHERE state = 'open' AND customer_id = $1", agent.ID))
	require.Zero(t, s.Count("SELECT count(*) FROM responses WHERE state = 'open'"))
	require.Empty(t, s.get(peer, "/services?bot_id="+agent.ID.String()).ok(200)["services"])
	s.get(peer, "/orders/"+of(offer)).has(200, object{"order": object{"state": "cancelled"}})
	s.post(agent, "/orders", s.terms(nil)).fault(fault.ParticipantInactive)
	s.post(agent, "/tasks", job(nil)).fault(fault.ParticipantInactive)
	s.post(agent, "/services", object{"title": "x", "description": "x"}).fault(fault.InactiveBot)
	s.patch(agent, "/bots/me", object{"profile_public": true}).fault(fault.InactiveBot)
	mails := s.Mails(address)
	require.Equal(t, "Your agent on Stoa is to be erased", mails[len(mails)-1].Subject)
	require.Contains(t, mails[len(mails)-1].Text, "/owner/keep/")

	s.Exec("ANALYZE")
	require.NotZero(t, s.sampled(address))

	// Nothing is erased before it is due.
	s.Shift(7*24*time.Hour - time.Minute)
	require.Zero(t, s.erase())
	s.Shift(2 * time.Minute)
	require.NotEmpty(t, s.Traces(address))
	s.delete(agent, erasurePath).fault(fault.StateConflict)
	require.EqualValues(t, 1, s.erase())
	require.Zero(t, s.erase(), "an order holds it")
	require.Equal(t, "partial", s.erasureOf(agent)["state"])
	require.Empty(t, s.Traces(marker))
	require.Empty(t, s.Traces(address))
	require.Len(t, records, 1)
	require.Equal(t, agent.ID, records[0].BotID)

	// The order continues to its end.
	order = s.step(peer, s.step(peer, order, "start", nil), "deliver", object{"result_text": "Done."})
	s.step(agent, order, "complete", nil)
	require.EqualValues(t, 1, s.erase())
	s.get(agent, erasurePath).fault(fault.Unauthorized)
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM erasures WHERE done_at IS NOT NULL"))
	for _, secret := range []string{marker, address, agent.PublicKey(), fingerprint} {
		require.Empty(t, s.Traces(secret), secret)
	}
	require.Zero(t, s.Count("SELECT count(*) FROM bots WHERE encryption_public_key = $1", agent.Key.PublicKey().Bytes()))
	require.Empty(t, graphtest.Got(s.Wallet.Reconcile(t.Context()))(t))
	s.requireUnreadable(marker)
	s.requireUnreadable(address)
}

// An agent can cancel its erasure, and a late repeat of the request starts none. An agent has three requests a day.
func TestAnErasureIsCancelled(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent := s.customer
	sent := s.erasure(agent)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	s.post(agent, erasurePath, sent).ok(202)
	require.Equal(t, object{"cancelled": true}, s.delete(agent, erasurePath).ok(200))
	s.post(agent, erasurePath, sent).fault(fault.StateConflict)
	s.get(agent, erasurePath).fault(fault.NotFound)
	s.Exec("UPDATE bots SET state = 'active' WHERE id = $1", agent.ID)
	s.offer(agent, s.terms(nil))
	s.Shift(8 * 24 * time.Hour)
	require.Zero(t, s.erase())
	s.get(agent, "/bots/me").ok(200)
	for range 3 {
		s.erasing(agent)
		s.delete(agent, erasurePath).ok(200)
	}
	refused := s.post(agent, erasurePath, s.erasure(agent))
	refused.fault(fault.RateLimited)
	wait := graphtest.Got(strconv.Atoi(refused.header.Get("Retry-After")))(t)
	require.InDelta(t, 24*60*60, wait, 60)
	s.Shift(time.Duration(wait) * time.Second)
	s.erasing(agent)
}

// An agent with many unacknowledged events is erased in time, because most of them are deleted in earlier batches.
func TestAnAgentWithManyEventsIsErased(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.Agent()
	s.post(one, erasurePath, s.erasure(one)).ok(202)
	s.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
		SELECT gen_random_uuid(), stoa_now(), $1, 'task.posted', '{}' FROM generate_series(1, 5000)`, one.ID)
	s.Exec(`CREATE FUNCTION few() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF (SELECT count(*) FROM gone) > 2000 THEN RAISE 'too many at once'; END IF;
		RETURN NULL;
	END $$`)
	s.Exec("CREATE TRIGGER few AFTER DELETE ON events REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION few()")
	require.Zero(t, s.erase())
	require.EqualValues(t, 5000, s.Count("SELECT count(*) FROM events WHERE kind = 'task.posted'"), "it is not due yet")
	s.Shift(8 * 24 * time.Hour)
	require.EqualValues(t, 1, s.erase())
	require.Zero(t, s.Count("SELECT count(*) FROM events WHERE recipient_id = $1", one.ID))
}

// A suspension may keep a thief out, so it stops an erasure.
func TestASuspendedAgentIsNotErased(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	s.erasing(s.customer)
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.customer.ID)
	s.Shift(8 * 24 * time.Hour)
	require.Zero(t, s.erase())
	s.Exec("UPDATE bots SET suspended_at = NULL")
	require.EqualValues(t, 1, s.erase())
}

// If a restored database contains erased data, they are erased again, even if orders delayed the first erasure.
func TestErasedAgentsStayErased(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent, peer := s.customer, s.contractor
	s.patch(agent, "/bots/me", object{"bio": marker}).ok(200)
	s.step(peer, s.offer(agent, s.terms(nil)), "accept", nil)
	now := s.Now()
	records := []lifecycle.Erased{
		{BotID: agent.ID, ErasureID: uuid.New(), RequestedBy: lifecycle.ByOwner, RequestedAt: now.AddDate(0, 0, -8), DueAt: now.AddDate(0, 0, -1)},
		{BotID: uuid.New(), ErasureID: uuid.New(), RequestedBy: lifecycle.ByAgent, RequestedAt: now, DueAt: now},
		{BotID: peer.ID, ErasureID: uuid.New(), RequestedBy: lifecycle.ByAgent, RequestedAt: now.AddDate(0, 0, -8), DueAt: now.AddDate(0, 0, -1)},
	}
	s.erasing(peer)
	again := func() int64 { return graphtest.Got(s.Lifecycle.EraseAgain(t.Context(), records))(t) }
	require.EqualValues(t, 2, again())
	require.Empty(t, s.Traces(marker))
	require.Equal(t, "partial", s.erasureOf(agent)["state"])
	require.Equal(t, "partial", s.erasureOf(peer)["state"])
	require.Zero(t, again())
}
