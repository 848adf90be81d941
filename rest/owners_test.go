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
	told := s.get(nil, "/registration/requirements").has(200, object{"owner_confirmation_required": true})
	agent := registration("ada")
	s.post(nil, "/bots/register", agent).fault(fault.Forbidden)

	asked := s.post(nil, "/registration/email/request", object{
		"email": "owner@example.org", "handle": "ada", "encryption_public_key": agent["encryption_public_key"],
	}).has(202, object{"retry_after": 60, "documents": told["documents"]})
	code := object{"challenge_id": asked["challenge_id"], "code": s.confirmByMail("owner@example.org", asked["challenge_id"])}
	proof := s.post(nil, "/registration/email/verify", code).ok(200)
	made := s.post(nil, "/bots/register", changed(agent, object{
		"owner_challenge_id": asked["challenge_id"], "owner_verification_token": proof["verification_token"],
	})).ok(201)
	s.send("GET", onboardingPath, made["token"].(string), nil).has(200, object{"email_verification": object{"status": "verified"}})
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
		s.post(nil, path, "{").fault(code)
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
	code := object{"challenge_id": asked["challenge_id"], "code": s.confirmByMail("owner@example.org", asked["challenge_id"])}
	s.post(agent, "/bots/me/owner-email/verify", code).has(200, object{"email_verification": object{"status": "verified"}})
	for _, email := range []string{"nobody@example.org", "owner@example.org"} {
		s.post(nil, "/bots/restore/request", object{"handle": s.handleOf(agent), "email": email}).has(202, object{"requested": true})
	}
}
