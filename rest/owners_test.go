package rest_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

var mailedCode = regexp.MustCompile(`this code: (\d{6})`)

// ownerSite returns a server whose operator has set up the email gate and restoring.
func ownerSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)))
	s.RequireOwners()
	return s
}

// confirmByMail confirms the challenge of the last mail to an address, as the owner's page does, and returns its code.
func (s *site) confirmByMail(address string, challenge any) string {
	s.t.Helper()
	mails := s.Mails(address)
	require.NotEmpty(s.t, mails)
	code := mailedCode.FindStringSubmatch(mails[len(mails)-1].Text)
	require.NotNil(s.t, code)
	s.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", challenge)
	return code[1]
}

// graph/owners tests the refusals and repeats.
func TestRegistrationThroughTheGateOverHTTP(t *testing.T) {
	t.Parallel()
	s := ownerSite(t)
	told := s.fetch("GET", "/api/v1/registration/requirements", "").ok(http.StatusOK)
	require.Equal(t, true, told["owner_confirmation_required"])
	agent := registration("ada")
	s.send("POST", "/api/v1/bots/register", "", agent).fault(http.StatusForbidden, fault.Forbidden)

	request := map[string]any{"email": "owner@example.org", "handle": "ada", "encryption_public_key": agent["encryption_public_key"]}
	asked := s.send("POST", "/api/v1/registration/email/request", "", request).ok(http.StatusAccepted)
	require.EqualValues(t, 60, asked["retry_after"])
	require.Equal(t, told["documents"], asked["documents"])
	code := s.confirmByMail("owner@example.org", asked["challenge_id"])
	proof := s.send("POST", "/api/v1/registration/email/verify", "",
		map[string]any{"challenge_id": asked["challenge_id"], "code": code}).ok(http.StatusOK)
	agent = changed(agent, map[string]any{
		"owner_challenge_id": asked["challenge_id"], "owner_verification_token": proof["verification_token"],
	})
	made := s.send("POST", "/api/v1/bots/register", "", agent).ok(http.StatusCreated)
	email := s.fetch("GET", "/api/v1/bots/me/onboarding", made["token"].(string)).ok(http.StatusOK)["email_verification"]
	require.Equal(t, "verified", email.(map[string]any)["status"])
}

// The fault for missing setup comes before anything of the request is read.
func TestOwnersThatAreNotSetUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, code := range map[string]fault.Code{
		"/registration/email/request":  fault.VerificationSetupPending,
		"/bots/me/owner-email/request": fault.VerificationSetupPending,
		"/bots/restore/request":        fault.LifecycleSetupPending,
	} {
		a := s.send("POST", "/api/v1"+path, "", "{").refused(http.StatusServiceUnavailable, code)
		require.NotEmpty(t, a.header.Get("Retry-After"))
	}
	s.fetch("GET", "/api/v1/registration/requirements", "").ok(http.StatusOK)
	s.Exec("UPDATE settings SET email_gate_enabled = true")
	s.fetch("GET", "/api/v1/registration/requirements", "").fault(http.StatusServiceUnavailable, fault.VerificationSetupPending)
}

func TestLinkingAndRestoringOverHTTP(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t, graphtest.WithMail(new(graphtest.Mailbox))).withAgent()
	s.RequireOwners()
	asked := s.send("POST", "/api/v1/bots/me/owner-email/request", agent.Token, map[string]any{"email": "owner@example.org"}).
		ok(http.StatusAccepted)
	code := s.confirmByMail("owner@example.org", asked["challenge_id"])
	verified := s.send("POST", "/api/v1/bots/me/owner-email/verify", agent.Token,
		map[string]any{"challenge_id": asked["challenge_id"], "code": code}).ok(http.StatusOK)
	require.Equal(t, "verified", verified["email_verification"].(map[string]any)["status"])

	me := s.fetch("GET", "/api/v1/bots/me", agent.Token).ok(http.StatusOK)["bot"].(map[string]any)
	for _, email := range []string{"nobody@example.org", "owner@example.org"} {
		answer := s.send("POST", "/api/v1/bots/restore/request", "", map[string]any{"handle": me["handle"], "email": email})
		require.Equal(t, map[string]any{"requested": true}, answer.ok(http.StatusAccepted))
	}
}
