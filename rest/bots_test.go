package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
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

func TestRegistrationRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.send("POST", "/api/v1/bots/register", "", registration("taken")).ok(http.StatusCreated)
	with := func(field string, value any) string {
		body := registration("free")
		body[field] = value
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		return string(raw)
	}
	const register = "/api/v1/bots/register"
	s.refuses("", map[string]scenario{
		"email":              {"POST", register, with("email", "a@b.c"), 400, fault.InvalidInput, "email"},
		"password":           {"POST", register, with("password", "x"), 400, fault.InvalidInput, "password"},
		"is_demo":            {"POST", register, with("is_demo", true), 400, fault.InvalidInput, "is_demo"},
		"attachment":         {"POST", register, with("avatar_attachment_id", goodKey), 400, fault.InvalidInput, "avatar_attachment_id"},
		"null bio":           {"POST", register, with("bio", nil), 400, fault.InvalidInput, "bio"},
		"number name":        {"POST", register, with("display_name", 7), 400, fault.InvalidInput, "display_name"},
		"string flag":        {"POST", register, with("profile_public", "true"), 400, fault.InvalidInput, "profile_public"},
		"short handle":       {"POST", register, with("handle", "ab"), 400, fault.InvalidInput, "handle"},
		"long handle":        {"POST", register, with("handle", strings.Repeat("a", 33)), 400, fault.InvalidInput, "handle"},
		"digit first":        {"POST", register, with("handle", "1ab"), 400, fault.InvalidInput, "handle"},
		"reserved":           {"POST", register, with("handle", "admin"), 409, fault.HandleUnavailable, "handle"},
		"taken":              {"POST", register, with("handle", "taken"), 409, fault.HandleUnavailable, "handle"},
		"bidi name":          {"POST", register, with("display_name", "a\u202eb"), 400, fault.InvalidInput, "display_name"},
		"low-order key":      {"POST", register, with("encryption_public_key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), 400, fault.InvalidInput, "encryption_public_key"},
		"wrong case of name": {"POST", register, with("Bio", "x"), 400, fault.InvalidInput, "Bio"},
	})
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM bots"))
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

func TestProfileUpdate(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	changed := s.send("PATCH", "/api/v1/bots/me", agent.Token, `{"display_name":" New name ","profile_public":false,"avatar_attachment_id":null}`).ok(http.StatusOK)
	bot := changed["bot"].(map[string]any)
	require.Equal(t, "New name", bot["display_name"])
	require.Equal(t, false, bot["profile_public"])
	s.send("PATCH", "/api/v1/bots/me", agent.Token, `{"profile_public":true}`).ok(http.StatusOK)
	for body, code := range map[string]fault.Code{
		`{}`:                          fault.InvalidInput,
		`{"rights_confirmed":true}`:   fault.InvalidInput,
		`{"handle":"other"}`:          fault.InvalidInput,
		`{"is_demo":true}`:            fault.InvalidInput,
		`{"encryption_public_key":1}`: fault.InvalidInput,
		`{"display_name":null}`:       fault.InvalidInput,
		`{"display_name":""}`:         fault.InvalidInput,
		`{"avatar_attachment_id":"x","rights_confirmed":true}`:                                 fault.InvalidInput,
		`{"avatar_attachment_id":"0190a5d4-7c1e-7000-8000-0123456789ab"}`:                      fault.PublicationRightsRequired,
		`{"avatar_attachment_id":"0190a5d4-7c1e-7000-8000-0123456789ab","rights_confirmed":1}`: fault.InvalidInput,
	} {
		s.send("PATCH", "/api/v1/bots/me", agent.Token, body).fault(http.StatusBadRequest, code)
	}
	s.send("PATCH", "/api/v1/bots/me", agent.Token, `{"avatar_attachment_id":"0190a5d4-7c1e-7000-8000-0123456789ab","rights_confirmed":true}`).
		fault(http.StatusNotFound, fault.InvalidAttachment)
	require.Equal(t, "New name", s.send("GET", "/api/v1/bots/me", agent.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)["display_name"])
}

func TestRotationAndRevocation(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	granted := s.send("POST", "/api/v1/tokens/rotate", agent.Token, nil).ok(http.StatusOK)
	require.Equal(t, []string{"token", "token_expires_at"}, keys(granted))
	s.send("GET", "/api/v1/bots/me", agent.Token, nil).fault(http.StatusUnauthorized, fault.Unauthorized)
	fresh := granted["token"].(string)
	me := s.send("GET", "/api/v1/bots/me", fresh, nil).ok(http.StatusOK)
	require.Equal(t, agent.ID.String(), me["bot"].(map[string]any)["id"])
	require.Equal(t, agent.PublicKey(), me["bot"].(map[string]any)["encryption_public_key"], "the key stays")

	require.Equal(t, map[string]any{"revoked": true}, s.send("POST", "/api/v1/tokens/revoke", fresh, "garbage").ok(http.StatusOK))
	s.send("POST", "/api/v1/tokens/revoke", fresh, nil).fault(http.StatusUnauthorized, fault.Unauthorized)
}
