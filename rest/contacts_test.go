package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

const (
	contactRequests = "/api/v1/contacts/requests"
	contactList     = "/api/v1/contacts"
)

// contactPath is where a contact is accepted or blocked.
func contactPath(id any, action string) string {
	text, ok := id.(string)
	if !ok {
		text = id.(uuid.UUID).String()
	}
	return contactList + "/" + text + "/" + action
}

func asked(agent *graphtest.Agent) map[string]any {
	return map[string]any{"recipient_id": agent.ID.String()}
}

// members are the names of an object's members.
func members(object any) []string {
	var names []string
	for name := range object.(map[string]any) {
		names = append(names, name)
	}
	return names
}

func TestFriendshipIsAskedForAndAccepted(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	one, other := s.Agent(), s.Agent()

	made := s.send("POST", contactRequests, one.Token, asked(other)).ok(http.StatusCreated)["contact"].(map[string]any)
	require.ElementsMatch(t, []string{"id", "state", "friendship", "bot", "requested_by_me", "created_at", "updated_at", "accepted_at"}, members(made))
	require.ElementsMatch(t, []string{"id", "handle", "display_name", "encryption_public_key", "encryption_key_fingerprint", "avatar_url"}, members(made["bot"]))
	require.Equal(t, "pending", made["state"])
	require.Equal(t, map[string]any{"status": "outgoing"}, made["friendship"])
	require.Equal(t, true, made["requested_by_me"])
	require.Nil(t, made["accepted_at"])
	require.Equal(t, other.ID.String(), made["bot"].(map[string]any)["id"])
	require.Equal(t, other.PublicKey(), made["bot"].(map[string]any)["encryption_public_key"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, made["created_at"])

	require.Equal(t, made, s.send("POST", contactRequests, one.Token, asked(other)).ok(http.StatusOK)["contact"])
	upper := map[string]any{"recipient_id": strings.ToUpper(other.ID.String())}
	require.Equal(t, made, s.send("POST", contactRequests, one.Token, upper).ok(http.StatusOK)["contact"])
	mutual := s.send("POST", contactRequests, other.Token, asked(one)).ok(http.StatusOK)["contact"].(map[string]any)
	require.Equal(t, map[string]any{"status": "incoming"}, mutual["friendship"])
	require.Equal(t, false, mutual["requested_by_me"])

	s.send("POST", contactPath(made["id"], "accept"), one.Token, "{}").fault(http.StatusForbidden, fault.RecipientRequired)
	friends := s.send("POST", contactPath(made["id"], "accept"), other.Token, "{}").ok(http.StatusOK)["contact"].(map[string]any)
	require.Equal(t, "accepted", friends["state"])
	require.Equal(t, map[string]any{"status": "friends"}, friends["friendship"])
	require.NotNil(t, friends["accepted_at"])
	require.Equal(t, friends, s.send("POST", contactPath(strings.ToUpper(made["id"].(string)), "accept"), other.Token, nil).ok(http.StatusOK)["contact"])
	require.Equal(t, map[string]any{"status": "friends"}, s.send("POST", contactRequests, one.Token, asked(other)).ok(http.StatusOK)["contact"].(map[string]any)["friendship"])

	blocked := s.send("POST", contactPath(made["id"], "block"), one.Token, nil).ok(http.StatusOK)["contact"].(map[string]any)
	require.Equal(t, "blocked", blocked["state"])
	require.Equal(t, map[string]any{"status": "blocked"}, blocked["friendship"])
	require.Equal(t, blocked, s.send("POST", contactPath(made["id"], "block"), one.Token, "{}").ok(http.StatusOK)["contact"])
	for _, agent := range []*graphtest.Agent{one, other} {
		list := s.send("GET", contactList, agent.Token, nil).ok(http.StatusOK)
		require.ElementsMatch(t, []string{"contacts", "next_before"}, members(list))
		require.Nil(t, list["next_before"])
		require.Equal(t, map[string]any{"status": "blocked"}, list["contacts"].([]any)[0].(map[string]any)["friendship"])
	}
	s.send("POST", contactRequests, one.Token, asked(other)).fault(http.StatusForbidden, fault.ContactBlocked)
	s.send("POST", contactRequests, other.Token, asked(one)).fault(http.StatusForbidden, fault.ContactBlocked)
	s.send("POST", contactPath(made["id"], "accept"), other.Token, nil).fault(http.StatusForbidden, fault.ContactBlocked)
}

func TestNewContactRequestsAreLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{ContactRequestsPerMinute: 1}))
	one, other, third := s.Agent(), s.Agent(), s.Agent()
	made := s.send("POST", contactRequests, one.Token, asked(other))
	made.ok(http.StatusCreated)
	require.Contains(t, made.header.Get("RateLimit-Policy"), `"contact_requests";q=1;w=60`)
	require.Contains(t, made.header.Get("RateLimit"), `"contact_requests";r=0;t=`)
	refused := s.send("POST", contactRequests, one.Token, asked(third))
	refused.fault(http.StatusTooManyRequests, fault.RateLimited)
	require.Regexp(t, `^[1-9]\d*$`, refused.header.Get("Retry-After"))
	s.send("POST", contactRequests, one.Token, asked(other)).ok(http.StatusOK)
	s.Shift(2 * time.Minute)
	s.send("POST", contactRequests, one.Token, asked(third)).ok(http.StatusCreated)
}

// A stranger is blocked as a friend is, without a friendship before it and without an event.
func TestBlockOfAStrangerOverREST(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	stranger := s.Agent()
	block := func(by *graphtest.Agent, body any) *answer {
		return s.send("POST", "/api/v1/contacts/blocks", by.Token, body)
	}
	blocked := block(s.customer, map[string]any{"bot_id": stranger.ID}).ok(http.StatusCreated)["contact"].(map[string]any)
	require.Equal(t, "blocked", blocked["state"])
	require.Equal(t, true, blocked["requested_by_me"])
	require.Empty(t, s.send("GET", "/api/v1/events", stranger.Token, nil).ok(http.StatusOK)["events"])
	seen := block(stranger, map[string]any{"bot_id": s.customer.ID}).ok(http.StatusOK)["contact"].(map[string]any)
	require.Equal(t, blocked["id"], seen["id"])
	require.Equal(t, false, seen["requested_by_me"])
	s.send("POST", contactRequests, stranger.Token, map[string]any{"recipient_id": s.customer.ID}).
		fault(http.StatusForbidden, fault.ContactBlocked)
	friend := block(s.customer, map[string]any{"bot_id": s.contractor.ID}).ok(http.StatusCreated)["contact"].(map[string]any)
	require.Equal(t, s.contact.String(), friend["id"])

	block(s.customer, map[string]any{"bot_id": s.customer.ID}).fault(http.StatusForbidden, fault.SelfContact)
	block(s.customer, map[string]any{"bot_id": uuid.NewString()}).fault(http.StatusNotFound, fault.NotFound)
	for _, body := range []any{`{}`, `{"bot_id":"otto"}`, `{"bot_id":null}`, `{"bot_id":"` + uuid.NewString() + `","more":1}`} {
		block(s.customer, body).fault(http.StatusBadRequest, fault.InvalidID)
	}
}
