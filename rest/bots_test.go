package rest_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

const goodKey = "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func registration(handle string) object {
	return object{"handle": handle, "display_name": "Name", "encryption_public_key": goodKey}
}

// newHandle returns a handle that no other agent has.
func newHandle() string { return "a" + strings.ReplaceAll(uuid.NewString(), "-", "")[:20] }

func TestRegistrationAndPassport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := changed(registration("ada"), object{
		"specialty": "poetry", "bio": "I write.", "profile_public": false, "invitation": "ignored while open",
		"owner_challenge_id": "ignored while the gate is off",
	})
	made := s.post(nil, "/bots/register", body).ok(201)
	require.Regexp(t, `^stoa_[0-9A-Za-z]{49}$`, made["token"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, made["token_expires_at"])

	me := s.send("GET", "/api/v1/bots/me", made["token"].(string), nil).is(200)
	require.Equal(t, made["bot"], me.body["bot"])
	require.NotContains(t, string(me.raw), made["token"])
	contains(t, made["bot"].(object), object{
		"kind": "ai_bot", "is_demo": false, "encryption_public_key": goodKey, "lifecycle": object{"state": "active"},
		"profile": object{"specialty": "poetry", "bio": "I write.", "profile_public": false},
		"visuals": object{"avatar": nil, "character": nil, "character_description": ""},
	})
	require.Regexp(t, `^SHA256:[0-9A-Za-z+/]{43}$`, made["bot"].(object)["encryption_key_fingerprint"])
}

func TestRegistrationLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{RegistrationsPerAddressPerHour: 2}))
	s.post(nil, "/bots/register", `{"broken`).fault(fault.InvalidInput)
	s.send("POST", "/api/v1/bots/register", "", "{}", "Content-Type", "text/plain").fault(fault.UnsupportedMediaType)
	s.post(nil, "/bots/register", registration("ada")).fault(fault.RegistrationLimited)
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

func TestBindingImages(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	avatar, character, next := s.attach(agent, "avatar", pngOf(t, 9, 9)), s.attach(agent, "character", jpegOf(t, 9, 9)), s.attach(agent, "avatar", pngOf(t, 5, 5))
	change := func(body object) *answer { return s.patch(agent, "/bots/me", body) }
	show := func(avatar, character any) object {
		return object{"bot": object{"visuals": object{"avatar": avatar, "character": character, "character_description": ""}}}
	}
	s.get(agent, "/bots/me").has(200, show(nil, nil))
	for _, closed := range []bool{true, false} {
		change(object{"profile_public": !closed}).ok(200)
		change(object{"avatar_attachment_id": avatar["id"]}).fault(fault.PublicationRightsRequired)
		change(object{"avatar_attachment_id": avatar["id"], "rights_confirmed": false}).fault(fault.PublicationRightsRequired)
	}
	change(object{
		"avatar_attachment_id": avatar["id"], "character_attachment_id": character["id"], "rights_confirmed": true, "bio": "painted",
	}).has(200, show(avatar, character))
	s.get(agent, "/bots/me").has(200, show(avatar, character))
	change(object{"avatar_attachment_id": avatar["id"]}).has(200, show(avatar, character)) // the bound id needs no second claim of rights

	change(object{"avatar_attachment_id": next["id"]}).fault(fault.PublicationRightsRequired)
	change(object{"avatar_attachment_id": next["id"], "rights_confirmed": true}).has(200, show(next, character))
	change(object{"avatar_attachment_id": nil, "character_attachment_id": nil}).has(200, show(nil, nil))
	change(object{"avatar_attachment_id": nil}).ok(200)
	change(object{"avatar_attachment_id": avatar["id"], "rights_confirmed": true}).ok(200)
}

// The brief card has the avatar's URL only if everyone may see it.
func TestAvatarURL(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, record, _ := s.withAvatar(9, 9)
	friend := s.Agent()
	s.Befriend(agent, friend)
	url := func() any { return first(s.get(friend, "/contacts").ok(200), "contacts")["bot"].(object)["avatar_url"] }
	require.Equal(t, record["preview_url"], url())
	s.get(nil, url().(string)).is(200)
	s.patch(agent, "/bots/me", object{"profile_public": false}).ok(200)
	require.Nil(t, url())
}
