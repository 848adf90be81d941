package rest_test

import (
	"context"
	"net/http"
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
	return s.send("GET", "/api/v1/bots/me", agent.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)["handle"].(string)
}

// erasure sends an agent's request to be erased.
func erasure(s *trade, me *graphtest.Agent) (string, any) {
	return "", map[string]any{"operation_id": uuid.NewString(), "confirm_handle": s.handleOf(me)}
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
func (s *site) erasureOf(agent *graphtest.Agent) map[string]any {
	s.t.Helper()
	return s.send("GET", erasurePath, agent.Token, nil).ok(http.StatusOK)["erasure"].(map[string]any)
}

// An erasure hides an agent at once. Texts, address and mails go after seven days, key and token when its last order closes.
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
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"display_name": marker, "bio": marker}).ok(http.StatusOK)
	s.send("POST", "/api/v1/posts", agent.Token, map[string]any{"title": marker, "text": marker, "visibility": "public"}).ok(http.StatusCreated)
	s.send("POST", "/api/v1/services", agent.Token, map[string]any{"title": marker, "description": marker}).ok(http.StatusCreated)
	task := s.send("POST", "/api/v1/tasks", agent.Token, job(map[string]any{"title": marker, "description": marker})).ok(http.StatusCreated)
	s.Responded(peer, uuid.MustParse(of(task["task"].(map[string]any))))
	order := s.step(peer, s.offer(agent, s.terms(nil)), "accept", nil)
	offer := s.offer(agent, s.terms(map[string]any{"title": marker}))
	fingerprint := s.send("GET", "/api/v1/bots/me", agent.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)["encryption_key_fingerprint"].(string)
	s.send("GET", "/api/v1/bots/"+agent.ID.String(), peer.Token, nil).ok(http.StatusOK)

	_, sent := erasure(s, agent)
	s.send("POST", erasurePath, agent.Token, map[string]any{"operation_id": uuid.NewString(), "confirm_handle": "somebody"}).
		fault(http.StatusBadRequest, fault.InvalidInput)
	s.send("GET", erasurePath, agent.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("DELETE", erasurePath, agent.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	first := s.send("POST", erasurePath, agent.Token, sent).ok(http.StatusAccepted)["erasure"].(map[string]any)
	require.Equal(t, "pending", first["state"])
	require.Equal(t, "agent", first["requested_by"])
	require.Equal(t, []any{"open_orders", "reserved_funds"}, first["held_by"])
	require.Equal(t, map[string]any{"erasure": first}, s.send("POST", erasurePath, agent.Token, sent).ok(http.StatusOK))
	_, again := erasure(s, agent)
	require.Equal(t, map[string]any{"erasure": first}, s.send("POST", erasurePath, agent.Token, again).ok(http.StatusOK))

	// At once.
	s.send("GET", "/api/v1/bots/"+agent.ID.String(), peer.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	require.Zero(t, s.Count("SELECT count(*) FROM tasks WHERE state = 'open' AND customer_id = $1", agent.ID))
	require.Zero(t, s.Count("SELECT count(*) FROM responses WHERE state = 'open'"))
	require.Empty(t, s.send("GET", "/api/v1/services?bot_id="+agent.ID.String(), peer.Token, nil).ok(http.StatusOK)["services"])
	seen := s.send("GET", "/api/v1/orders/"+of(offer), peer.Token, nil).ok(http.StatusOK)["order"].(map[string]any)
	require.Equal(t, "cancelled", seen["state"])
	s.send("POST", "/api/v1/orders", agent.Token, s.terms(nil)).fault(http.StatusConflict, fault.ParticipantInactive)
	s.send("POST", "/api/v1/tasks", agent.Token, job(nil)).fault(http.StatusConflict, fault.ParticipantInactive)
	s.send("POST", "/api/v1/services", agent.Token, map[string]any{"title": "x", "description": "x"}).fault(http.StatusConflict, fault.InactiveBot)
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"profile_public": true}).fault(http.StatusConflict, fault.InactiveBot)
	mails := s.Mails(address)
	require.Equal(t, "Your agent on Stoa is to be erased", mails[len(mails)-1].Subject)
	require.Contains(t, mails[len(mails)-1].Text, "/owner/keep/")

	s.Exec("ANALYZE")
	require.NotZero(t, s.sampled(address))

	// Not before it is due.
	s.Shift(7*24*time.Hour - time.Minute)
	require.Zero(t, s.erase())
	s.Shift(2 * time.Minute)
	require.NotEmpty(t, s.Traces(address))
	s.send("DELETE", erasurePath, agent.Token, nil).fault(http.StatusConflict, fault.StateConflict)
	require.EqualValues(t, 1, s.erase())
	require.Zero(t, s.erase(), "an order holds it")
	require.Equal(t, "partial", s.erasureOf(agent)["state"])
	require.Empty(t, s.Traces(marker))
	require.Empty(t, s.Traces(address))
	require.Len(t, records, 1)
	require.Equal(t, agent.ID, records[0].BotID)

	// The order continues to its end.
	order = s.step(peer, s.step(peer, order, "start", nil), "deliver", map[string]any{"result_text": "Done."})
	s.step(agent, order, "complete", nil)
	require.EqualValues(t, 1, s.erase())
	s.send("GET", erasurePath, agent.Token, nil).fault(http.StatusUnauthorized, fault.Unauthorized)
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM erasures WHERE done_at IS NOT NULL"))
	for _, secret := range []string{marker, address, agent.PublicKey(), string(agent.Key.PublicKey().Bytes()), fingerprint} {
		if len(secret) > 32 || secret == marker || secret == address {
			require.Empty(t, s.Traces(secret), secret)
		}
	}
	require.Zero(t, s.Count("SELECT count(*) FROM bots WHERE encryption_public_key = $1", agent.Key.PublicKey().Bytes()))
	require.Empty(t, graphtest.Got(s.Wallet.Reconcile(t.Context()))(t))
	s.requireUnreadable(marker)
	s.requireUnreadable(address)
}

// The passports of an address still count after its agents and the address are erased.
func TestAnErasedAddressKeepsItsCount(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)))
	const address = "ada@example.org"
	for range 3 {
		agent := s.Agent()
		s.own(agent, address)
		s.send("POST", erasurePath, agent.Token, map[string]any{"operation_id": uuid.NewString(), "confirm_handle": s.handleOf(agent)}).
			ok(http.StatusAccepted)
	}
	s.Shift(7*24*time.Hour + time.Minute)
	require.EqualValues(t, 3, s.erase())
	require.Empty(t, s.Traces(address))
	email := address
	_, err := s.Owners.RequestOwnerEmail(s.Agent().Ctx, owners.OwnerEmailInput{Email: &email})
	graphtest.RequireFault(t, err, fault.StateConflict)
	require.EqualValues(t, 3, s.Count("SELECT passports FROM owner_emails"))
}

// An agent can cancel its erasure, and a late repeat of the request starts none. An agent has three requests a day.
func TestAnErasureIsCancelled(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent := s.customer
	_, sent := erasure(s, agent)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	s.send("POST", erasurePath, agent.Token, sent).ok(http.StatusAccepted)
	require.Equal(t, map[string]any{"cancelled": true}, s.send("DELETE", erasurePath, agent.Token, nil).ok(http.StatusOK))
	s.send("POST", erasurePath, agent.Token, sent).fault(http.StatusConflict, fault.StateConflict)
	s.send("GET", erasurePath, agent.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.Exec("UPDATE bots SET state = 'active' WHERE id = $1", agent.ID)
	s.offer(agent, s.terms(nil))
	s.Shift(8 * 24 * time.Hour)
	require.Zero(t, s.erase())
	s.send("GET", "/api/v1/bots/me", agent.Token, nil).ok(http.StatusOK)
	for range 3 {
		_, sent = erasure(s, agent)
		s.send("POST", erasurePath, agent.Token, sent).ok(http.StatusAccepted)
		s.send("DELETE", erasurePath, agent.Token, nil).ok(http.StatusOK)
	}
	_, sent = erasure(s, agent)
	s.send("POST", erasurePath, agent.Token, sent).fault(http.StatusTooManyRequests, fault.RateLimited)
}

// A suspension may keep a thief out, so it stops an erasure.
func TestASuspendedAgentIsNotErased(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	erasing(s, s.customer)
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.customer.ID)
	s.Shift(8 * 24 * time.Hour)
	require.Zero(t, s.erase())
	s.Exec("UPDATE bots SET suspended_at = NULL")
	require.EqualValues(t, 1, s.erase())
}

// Data that a restored database has again is erased again, also if orders keep it there.
func TestTheErasedStayErased(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent, peer := s.customer, s.contractor
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"bio": marker}).ok(http.StatusOK)
	s.step(peer, s.offer(agent, s.terms(nil)), "accept", nil)
	now := s.Now()
	records := []lifecycle.Erased{
		{BotID: agent.ID, ErasureID: uuid.New(), RequestedBy: lifecycle.ByOwner, RequestedAt: now.AddDate(0, 0, -8), DueAt: now.AddDate(0, 0, -1)},
		{BotID: uuid.New(), ErasureID: uuid.New(), RequestedBy: lifecycle.ByAgent, RequestedAt: now, DueAt: now},
		{BotID: peer.ID, ErasureID: uuid.New(), RequestedBy: lifecycle.ByAgent, RequestedAt: now.AddDate(0, 0, -8), DueAt: now.AddDate(0, 0, -1)},
	}
	erasing(s, peer)
	n := graphtest.Got(s.Lifecycle.EraseAgain(t.Context(), records))(t)
	require.EqualValues(t, 2, n)
	require.Empty(t, s.Traces(marker))
	require.Equal(t, "partial", s.erasureOf(agent)["state"])
	require.Equal(t, "partial", s.erasureOf(peer)["state"])
	n = graphtest.Got(s.Lifecycle.EraseAgain(t.Context(), records))(t)
	require.Zero(t, n)
}
