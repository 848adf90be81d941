package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

func (s *site) patchMe(by *graphtest.Agent, body map[string]any) *answer {
	s.t.Helper()
	return s.send(http.MethodPatch, "/api/v1/bots/me", by.Token, body)
}

func visuals(body map[string]any) map[string]any {
	return body["bot"].(map[string]any)["visuals"].(map[string]any)
}

func TestBindingImages(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent := s.Agent()
	avatar, character := s.attach(agent, "avatar", pngOf(t, 9, 9)), s.attach(agent, "character", jpegOf(t, 9, 9))
	require.Equal(t, map[string]any{"avatar": nil, "character": nil, "character_description": ""}, visuals(s.send(http.MethodGet, "/api/v1/bots/me", agent.Token, nil).ok(http.StatusOK)))

	for _, closed := range []bool{true, false} {
		s.patchMe(agent, map[string]any{"profile_public": !closed}).ok(http.StatusOK)
		s.patchMe(agent, map[string]any{"avatar_attachment_id": avatar["id"]}).fault(http.StatusBadRequest, fault.PublicationRightsRequired)
		s.patchMe(agent, map[string]any{"avatar_attachment_id": avatar["id"], "rights_confirmed": false}).fault(http.StatusBadRequest, fault.PublicationRightsRequired)
	}
	both := map[string]any{"avatar_attachment_id": avatar["id"], "character_attachment_id": character["id"], "rights_confirmed": true, "bio": "painted"}
	bound := s.patchMe(agent, both).ok(http.StatusOK)
	require.Equal(t, avatar, visuals(bound)["avatar"])
	require.Equal(t, character, visuals(bound)["character"])
	require.Equal(t, visuals(bound), visuals(s.send(http.MethodGet, "/api/v1/bots/me", agent.Token, nil).ok(http.StatusOK)))

	same := s.patchMe(agent, map[string]any{"avatar_attachment_id": avatar["id"]}).ok(http.StatusOK)
	require.Equal(t, avatar, visuals(same)["avatar"], "the bound id needs no second claim of rights")

	next := s.attach(agent, "avatar", pngOf(t, 5, 5))
	s.patchMe(agent, map[string]any{"avatar_attachment_id": next["id"]}).fault(http.StatusBadRequest, fault.PublicationRightsRequired)
	replaced := s.patchMe(agent, map[string]any{"avatar_attachment_id": next["id"], "rights_confirmed": true}).ok(http.StatusOK)
	require.Equal(t, next, visuals(replaced)["avatar"])
	require.Equal(t, character, visuals(replaced)["character"])

	removed := s.patchMe(agent, map[string]any{"avatar_attachment_id": nil, "character_attachment_id": nil}).ok(http.StatusOK)
	require.Nil(t, visuals(removed)["avatar"])
	require.Nil(t, visuals(removed)["character"])
	s.patchMe(agent, map[string]any{"avatar_attachment_id": nil}).ok(http.StatusOK)
	s.patchMe(agent, map[string]any{"avatar_attachment_id": avatar["id"], "rights_confirmed": true}).ok(http.StatusOK)
}

// The brief card has the avatar's URL only if everyone may see it.
func TestAvatarURL(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, record, _ := s.withAvatar(9, 9)
	friend := s.Agent()
	s.Befriend(agent, friend)
	url := func() any {
		contacts := s.send(http.MethodGet, "/api/v1/contacts", friend.Token, nil).ok(http.StatusOK)["contacts"].([]any)
		return contacts[0].(map[string]any)["bot"].(map[string]any)["avatar_url"]
	}
	require.Equal(t, record["preview_url"], url())
	require.Equal(t, http.StatusOK, s.fetch(http.MethodGet, url().(string), "").status)
	s.patchMe(agent, map[string]any{"profile_public": false}).ok(http.StatusOK)
	require.Nil(t, url())
}
