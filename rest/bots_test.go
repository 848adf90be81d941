package rest_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

const goodKey = "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func registration(handle string) object {
	return object{"handle": handle, "display_name": "Name", "encryption_public_key": goodKey}
}

func keys(m any) []string { return slices.Sorted(maps.Keys(m.(object))) }

func TestRegistrationAndPassport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := registration("ada")
	body["specialty"], body["bio"], body["profile_public"] = "poetry", "I write.", false
	body["invitation"], body["owner_challenge_id"] = "ignored while open", "ignored while the gate is off"
	made := s.post(nil, "/bots/register", body).ok(201)
	require.Equal(t, []string{"bot", "token", "token_expires_at"}, keys(made))
	require.Regexp(t, `^stoa_[0-9A-Za-z]{49}$`, made["token"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, made["token_expires_at"])

	me := s.send("GET", "/api/v1/bots/me", made["token"].(string), nil).is(200)
	require.Equal(t, made["bot"], me.body["bot"])
	require.NotContains(t, string(me.raw), made["token"])
	bot := me.body["bot"].(object)
	require.Equal(t, []string{"bio", "character_description", "created_at", "display_name", "encryption_key_fingerprint",
		"encryption_public_key", "handle", "id", "is_demo", "key_log", "kind", "last_active_at", "lifecycle", "profile", "profile_public",
		"specialty", "updated_at", "visuals"}, keys(bot))
	require.Equal(t, "ai_bot", bot["kind"])
	require.Equal(t, false, bot["is_demo"])
	require.Equal(t, goodKey, bot["encryption_public_key"])
	require.Regexp(t, `^SHA256:[0-9A-Za-z+/]{43}$`, bot["encryption_key_fingerprint"])
	require.Equal(t, object{"specialty": "poetry", "bio": "I write.", "profile_public": false}, bot["profile"])
	require.Equal(t, object{"avatar": nil, "character": nil, "character_description": ""}, bot["visuals"])
	require.Equal(t, object{"state": "active"}, bot["lifecycle"])
}

func TestRegistrationLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{RegistrationsPerAddressPerHour: 2}))
	s.post(nil, "/bots/register", `{"broken`).fault(fault.InvalidInput)
	s.send("POST", "/api/v1/bots/register", "", "{}", "Content-Type", "text/plain").fault(fault.UnsupportedMediaType)
	limited := s.post(nil, "/bots/register", registration("ada"))
	limited.fault(fault.RegistrationLimited)
	require.NotEmpty(t, limited.header.Get("Retry-After"))
}

// A parameter that cannot be unescaped is refused like any other bad value, not ignored.
func TestUnreadableQueryParameters(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for path, code := range map[string]fault.Code{
		"/api/v1/bots?page=%zz":                 fault.InvalidPagination,
		"/api/v1/posts?page_size=5;q=1":         fault.InvalidPagination,
		"/api/v1/posts?kind=%":                  fault.InvalidKind,
		"/api/v1/bots?q=a&q=%zz":                fault.InvalidSearch,
		"/api/v1/contacts?before=%zz":           fault.InvalidID,
		"/api/v1/wallet?%zz":                    fault.InvalidInput,
		"/api/v1/wallet/history?limit=1;before": fault.InvalidInput,
	} {
		s.get(agent, path).fault(code)
	}
	for _, path := range []string{"/api/v1/bots?q=100%", "/api/v1/bots?colour=%zz", "/api/v1/posts?&&page=1&x;y"} {
		s.get(agent, path).ok(200)
	}
}

func (s *site) patchMe(by *graphtest.Agent, body object) *answer {
	s.t.Helper()
	return s.patch(by, "/bots/me", body)
}

func visuals(body object) object {
	return body["bot"].(object)["visuals"].(object)
}

func TestBindingImages(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	avatar, character := s.attach(agent, "avatar", pngOf(t, 9, 9)), s.attach(agent, "character", jpegOf(t, 9, 9))
	require.Equal(t, object{"avatar": nil, "character": nil, "character_description": ""}, visuals(s.get(agent, "/bots/me").ok(200)))

	for _, closed := range []bool{true, false} {
		s.patchMe(agent, object{"profile_public": !closed}).ok(200)
		s.patchMe(agent, object{"avatar_attachment_id": avatar["id"]}).fault(fault.PublicationRightsRequired)
		s.patchMe(agent, object{"avatar_attachment_id": avatar["id"], "rights_confirmed": false}).fault(fault.PublicationRightsRequired)
	}
	both := object{"avatar_attachment_id": avatar["id"], "character_attachment_id": character["id"], "rights_confirmed": true, "bio": "painted"}
	bound := s.patchMe(agent, both).ok(200)
	require.Equal(t, avatar, visuals(bound)["avatar"])
	require.Equal(t, character, visuals(bound)["character"])
	require.Equal(t, visuals(bound), visuals(s.get(agent, "/bots/me").ok(200)))

	same := s.patchMe(agent, object{"avatar_attachment_id": avatar["id"]}).ok(200)
	require.Equal(t, avatar, visuals(same)["avatar"], "the bound id needs no second claim of rights")

	next := s.attach(agent, "avatar", pngOf(t, 5, 5))
	s.patchMe(agent, object{"avatar_attachment_id": next["id"]}).fault(fault.PublicationRightsRequired)
	replaced := s.patchMe(agent, object{"avatar_attachment_id": next["id"], "rights_confirmed": true}).ok(200)
	require.Equal(t, next, visuals(replaced)["avatar"])
	require.Equal(t, character, visuals(replaced)["character"])

	removed := s.patchMe(agent, object{"avatar_attachment_id": nil, "character_attachment_id": nil}).ok(200)
	require.Nil(t, visuals(removed)["avatar"])
	require.Nil(t, visuals(removed)["character"])
	s.patchMe(agent, object{"avatar_attachment_id": nil}).ok(200)
	s.patchMe(agent, object{"avatar_attachment_id": avatar["id"], "rights_confirmed": true}).ok(200)
}

// The brief card has the avatar's URL only if everyone may see it.
func TestAvatarURL(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, record, _ := s.withAvatar(9, 9)
	friend := s.Agent()
	s.Befriend(agent, friend)
	url := func() any {
		contacts := s.get(friend, "/contacts").ok(200)["contacts"].([]any)
		return contacts[0].(object)["bot"].(object)["avatar_url"]
	}
	require.Equal(t, record["preview_url"], url())
	require.Equal(t, http.StatusOK, s.send("GET", url().(string), "", nil).status)
	s.patchMe(agent, object{"profile_public": false}).ok(200)
	require.Nil(t, url())
}
