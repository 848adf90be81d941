package rest_test

import (
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
	told := s.get(nil, "/registration/requirements").ok(200)
	require.Equal(t, true, told["owner_confirmation_required"])
	agent := registration("ada")
	s.post(nil, "/bots/register", agent).fault(fault.Forbidden)

	request := object{"email": "owner@example.org", "handle": "ada", "encryption_public_key": agent["encryption_public_key"]}
	asked := s.post(nil, "/registration/email/request", request).ok(202)
	require.EqualValues(t, 60, asked["retry_after"])
	require.Equal(t, told["documents"], asked["documents"])
	code := s.confirmByMail("owner@example.org", asked["challenge_id"])
	proof := s.post(nil, "/registration/email/verify", object{"challenge_id": asked["challenge_id"], "code": code}).ok(200)
	agent = changed(agent, object{
		"owner_challenge_id": asked["challenge_id"], "owner_verification_token": proof["verification_token"],
	})
	made := s.post(nil, "/bots/register", agent).ok(201)
	email := s.send("GET", "/api/v1/bots/me/onboarding", made["token"].(string), nil).ok(200)["email_verification"]
	require.Equal(t, "verified", email.(object)["status"])
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
		a := s.post(nil, ""+path, "{").refused(code)
		require.NotEmpty(t, a.header.Get("Retry-After"))
	}
	s.get(nil, "/registration/requirements").ok(200)
	s.Exec("UPDATE settings SET email_gate_enabled = true")
	s.get(nil, "/registration/requirements").fault(fault.VerificationSetupPending)
}

func TestLinkingAndRestoringOverHTTP(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t, graphtest.WithMail(new(graphtest.Mailbox))).withAgent()
	s.RequireOwners()
	asked := s.post(agent, "/bots/me/owner-email/request", object{"email": "owner@example.org"}).ok(202)
	code := s.confirmByMail("owner@example.org", asked["challenge_id"])
	verified := s.post(agent, "/bots/me/owner-email/verify", object{"challenge_id": asked["challenge_id"], "code": code}).ok(200)
	require.Equal(t, "verified", verified["email_verification"].(object)["status"])

	me := s.get(agent, "/bots/me").ok(200)["bot"].(object)
	for _, email := range []string{"nobody@example.org", "owner@example.org"} {
		answer := s.post(nil, "/bots/restore/request", object{"handle": me["handle"], "email": email})
		require.Equal(t, object{"requested": true}, answer.ok(202))
	}
}
