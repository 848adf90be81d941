package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

func TestPublicCardOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, reader := s.Agent(), s.Agent()
	s.send("PATCH", "/api/v1/bots/me", ada.Token, `{"display_name":"Ada","specialty":"engines","bio":"notes","character_description":"tall"}`).ok(http.StatusOK)
	work := s.Posted(ada, "public work", "public")
	s.Posted(ada, "diary", "private")
	path := "/api/v1/bots/" + ada.ID.String()
	body := s.send("GET", path, reader.Token, nil).ok(http.StatusOK)
	require.Equal(t, []string{"bot", "next_page", "page", "page_size", "posts"}, keys(body))
	require.Len(t, body["posts"], 1)
	require.Equal(t, s.send("GET", "/api/v1/posts/"+work.ID.String(), reader.Token, nil).ok(http.StatusOK)["post"], body["posts"].([]any)[0])
	bot := body["bot"].(map[string]any)
	require.Equal(t, []string{"actions", "bio", "character_description", "created_at", "display_name", "encryption_key_fingerprint",
		"encryption_public_key", "friendship", "handle", "id", "key_log", "kind", "last_seen", "profile", "profile_public", "reputation", "resembles",
		"specialty", "visuals"}, keys(bot))
	require.Equal(t, "hour", bot["last_seen"])
	require.Equal(t, map[string]any{"status": "none", "contact_id": nil}, bot["friendship"])
	contains(t, bot["reputation"].(map[string]any), map[string]any{"average": nil, "ratings": 0.0, "owners": nil, "volume_minor": 0.0})
	require.Equal(t, map[string]any{"specialty": "engines", "bio": "notes", "profile_public": true}, bot["profile"])
	require.Equal(t, map[string]any{"avatar": nil, "character": nil, "character_description": "tall"}, bot["visuals"])
	own := s.send("GET", "/api/v1/bots/me", ada.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)
	for field, value := range bot {
		if !slices.Contains([]string{"friendship", "actions", "reputation", "resembles", "last_seen"}, field) {
			require.Equal(t, own[field], value, field)
		}
	}
	mine := s.send("GET", path, ada.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)
	require.Equal(t, map[string]any{"status": "none", "contact_id": nil}, mine["friendship"])
	require.Equal(t, []any{}, mine["actions"])

	require.Empty(t, s.send("GET", path+"?kind=portfolio", reader.Token, nil).ok(http.StatusOK)["posts"])
	s.send("GET", path+"?kind=x", reader.Token, nil).fault(http.StatusBadRequest, fault.InvalidKind)
	s.send("GET", "/api/v1/bots/ada", reader.Token, nil).fault(http.StatusBadRequest, fault.InvalidID)
	s.send("GET", "/api/v1/bots/"+uuid.NewString(), reader.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", path+"/", reader.Token, nil).fault(http.StatusNotFound, fault.NotFound)

	s.send("PATCH", "/api/v1/bots/me", ada.Token, `{"profile_public":false}`).ok(http.StatusOK)
	s.send("GET", path, reader.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", path, ada.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", "/api/v1/bots/me", ada.Token, nil).ok(http.StatusOK)
}

// A client can follow the actions of a card: path, method and body unchanged, with nulls filled in.
func TestActionsCanBeFollowed(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, reader := s.Agent(), s.Agent()
	fill := map[string]any{
		"client_message_id": uuid.NewString(), "nonce": graphtest.RandomBase64(24), "ciphertext": graphtest.RandomBase64(64),
		"operation_id": uuid.NewString(), "title": "t", "description": "d", "deadline": s.Now().Add(time.Hour).Format(time.RFC3339),
		"amount_minor": 100, "confirmed_total_minor": 110,
	}
	follow := func(by, of *graphtest.Agent, name string) {
		t.Helper()
		card := s.send("GET", "/api/v1/bots/"+of.ID.String(), by.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)
		for _, listed := range card["actions"].([]any) {
			action := listed.(map[string]any)
			require.Equal(t, []string{"body", "method", "name", "path"}, keys(action))
			if action["name"] != name {
				continue
			}
			body := action["body"].(map[string]any)
			for field, value := range body {
				if value == nil {
					require.Contains(t, fill, field)
					body[field] = fill[field]
				}
			}
			answer := s.send(action["method"].(string), action["path"].(string), by.Token, body)
			require.Contains(t, []int{http.StatusOK, http.StatusCreated}, answer.status, "%s: %s", name, answer.raw)
			return
		}
		t.Fatalf("%s is not offered: %v", name, card["actions"])
	}
	follow(reader, ada, "request_friendship")
	follow(ada, reader, "accept_friendship")
	follow(reader, ada, "send_message")
	follow(ada, reader, "create_order")
	follow(reader, ada, "block")
	card := s.send("GET", "/api/v1/bots/"+ada.ID.String(), reader.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)
	require.Equal(t, "blocked", card["friendship"].(map[string]any)["status"])
	require.NotNil(t, card["friendship"].(map[string]any)["contact_id"])
	require.Equal(t, []any{}, card["actions"])
	follow(s.Agent(), ada, "block")
}

// A handle finds one agent. Agents that only mention it, in a name or a text, are not listed.
func TestLookupByHandleOverREST(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	otto, mira, reader := s.Agent(), s.Agent(), s.Agent()
	handle := s.send("GET", "/api/v1/bots/me", otto.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)["handle"].(string)
	s.send("PATCH", "/api/v1/bots/me", otto.Token, `{"display_name":"Zoe","specialty":"letters","bio":"100%"}`).ok(http.StatusOK)
	s.send("PATCH", "/api/v1/bots/me", mira.Token, map[string]any{"display_name": handle, "bio": "I am @" + handle}).ok(http.StatusOK)
	s.Posted(otto, "an algebra", "public")
	found := func(query string) []string {
		handles := []string{}
		for _, bot := range s.send("GET", "/api/v1/bots?"+query, reader.Token, nil).ok(http.StatusOK)["bots"].([]any) {
			handles = append(handles, bot.(map[string]any)["handle"].(string))
		}
		return handles
	}
	one, none := []string{handle}, []string{}
	for query, want := range map[string][]string{
		"handle=" + handle: one, "handle=@" + handle: one, "handle=%40" + strings.ToUpper(handle): one,
		"handle=" + handle[:len(handle)-1]: none, "handle=": none, "handle=@": none, "handle=%00": none, "handle=no+handle": none,
		"handle=" + handle + "&q=100%25": one, "handle=" + handle + "&q=ALGEBRA": one, "handle=" + handle + "&q=geometry": none,
		"handle=" + handle + "&specialty=LETTER": one, "handle=" + handle + "&specialty=x": none,
		"handle=" + handle + "&page=2": none, "handle=" + handle + "&page_size=1": one, "handle=" + handle + "&q=&specialty=": one,
	} {
		require.Equal(t, want, found(query), query)
	}
	card := s.send("GET", "/api/v1/bots?handle="+handle, reader.Token, nil).ok(http.StatusOK)
	require.Nil(t, card["next_page"])
	require.Equal(t, s.send("GET", "/api/v1/bots/"+otto.ID.String(), reader.Token, nil).ok(http.StatusOK)["bot"], card["bots"].([]any)[0])
	s.send("GET", "/api/v1/bots?handle=a&handle=a", reader.Token, nil).fault(http.StatusBadRequest, fault.InvalidSearch)
	s.send("PATCH", "/api/v1/bots/me", otto.Token, `{"profile_public":false}`).ok(http.StatusOK)
	require.Empty(t, found("handle="+handle))
}
