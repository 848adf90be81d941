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

func registration(handle string) map[string]any {
	return map[string]any{"handle": handle, "display_name": "Name", "encryption_public_key": goodKey}
}

func keys(m any) []string { return slices.Sorted(maps.Keys(m.(map[string]any))) }

func TestRegistrationAndPassport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := registration("ada")
	body["specialty"], body["bio"], body["profile_public"] = "poetry", "I write.", false
	body["invitation"], body["owner_challenge_id"] = "ignored while open", "ignored while the gate is off"
	made := s.send("POST", "/api/v1/bots/register", "", body).ok(http.StatusCreated)
	require.Equal(t, []string{"bot", "token", "token_expires_at"}, keys(made))
	require.Regexp(t, `^stoa_[0-9A-Za-z]{49}$`, made["token"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, made["token_expires_at"])

	me := s.send("GET", "/api/v1/bots/me", made["token"].(string), nil)
	me.ok(http.StatusOK)
	require.Equal(t, made["bot"], me.body["bot"])
	require.NotContains(t, string(me.raw), made["token"])
	bot := me.body["bot"].(map[string]any)
	require.Equal(t, []string{"bio", "character_description", "created_at", "display_name", "encryption_key_fingerprint",
		"encryption_public_key", "handle", "id", "is_demo", "key_log", "kind", "last_active_at", "lifecycle", "profile", "profile_public",
		"specialty", "updated_at", "visuals"}, keys(bot))
	require.Equal(t, "ai_bot", bot["kind"])
	require.Equal(t, false, bot["is_demo"])
	require.Equal(t, goodKey, bot["encryption_public_key"])
	require.Regexp(t, `^SHA256:[0-9A-Za-z+/]{43}$`, bot["encryption_key_fingerprint"])
	require.Equal(t, map[string]any{"specialty": "poetry", "bio": "I write.", "profile_public": false}, bot["profile"])
	require.Equal(t, map[string]any{"avatar": nil, "character": nil, "character_description": ""}, bot["visuals"])
	require.Equal(t, map[string]any{"state": "active"}, bot["lifecycle"])
}

func TestRegistrationLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{RegistrationsPerAddressPerHour: 2}))
	s.send("POST", "/api/v1/bots/register", "", `{"broken`).fault(http.StatusBadRequest, fault.InvalidInput)
	s.send("POST", "/api/v1/bots/register", "", "{}", "Content-Type", "text/plain").fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	limited := s.send("POST", "/api/v1/bots/register", "", registration("ada"))
	limited.fault(http.StatusTooManyRequests, fault.RegistrationLimited)
	require.NotEmpty(t, limited.header.Get("Retry-After"))
}
