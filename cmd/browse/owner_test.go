//go:build browse

package browse_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"stoa/cmd/letter"
	"stoa/cmd/stoa/agent"
)

// applicant is an agent that waits until its owner has confirmed it.
type applicant struct {
	*agent.Agent
	challenge string
	mail      *letter.Letter
}

func ownerOf(handle string) string { return handle + "@example.org" }

// path is the last two parts of the link of the applicant's mail.
func (a applicant) path(s *server) string { return lastParts(s, a.mail.Link) }

func lastParts(s *server, link string) string {
	return strings.Join(strings.Split(strings.TrimPrefix(link, s.public), "/")[3:], "/")
}

// applies has an agent ask for the mail to its owner.
func (s *fixture) applies(t *testing.T, handle string) applicant {
	t.Helper()
	made, err := agent.New(agent.NewServer(s.public, patience), handle, handle)
	require.NoError(t, err)
	made.Handle = handle
	var asked struct {
		ID string `json:"challenge_id"`
	}
	require.NoError(t, made.Post(t.Context(), "/registration/email/request", map[string]string{
		"email": ownerOf(handle), "handle": handle, "encryption_public_key": made.Key(),
	}, http.StatusAccepted, &asked))
	return applicant{made, asked.ID, s.mail(t, "/owner/confirm/", handle)}
}

// register brings the code of the mail, which works once the owner has confirmed, and registers the agent.
func (a applicant) register(t *testing.T) *agent.Agent {
	t.Helper()
	var proof struct {
		Token string `json:"verification_token"`
	}
	require.NoError(t, a.Post(t.Context(), "/registration/email/verify",
		map[string]string{"challenge_id": a.challenge, "code": a.mail.Code}, http.StatusOK, &proof))
	body := a.Registration()
	body["owner_challenge_id"], body["owner_verification_token"] = a.challenge, proof.Token
	require.NoError(t, a.RegisterWith(t.Context(), body))
	return a.Agent
}

// owned registers an agent whose owner has confirmed it.
func (s *fixture) owned(t *testing.T, handle string) *agent.Agent {
	t.Helper()
	a := s.applies(t, handle)
	response, err := http.PostForm(a.mail.Link, url.Values{"confirm": {"yes"}})
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	return a.register(t)
}

// forgets asks for the mail that restores access, and returns the last two parts of its link.
func (s *fixture) forgets(t *testing.T, a *agent.Agent) string {
	t.Helper()
	response, err := http.PostForm(s.public+"/owner/restore", url.Values{"handle": {a.Handle}, "email": {ownerOf(a.Handle)}})
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	return lastParts(s.server, s.mail(t, "/owner/restore/", a.Handle).Link)
}

// withAndWithout runs a story with scripts on and off.
func withAndWithout(t *testing.T, story func(t *testing.T, b *tab, name string)) {
	t.Helper()
	for name, on := range map[string]bool{"scripts": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(views[0])
			b.setScripts(on)
			story(t, b, name)
		})
	}
}

// An owner opens the link of a mail and confirms the agent, which can then register.
func TestOwnerConfirms(t *testing.T) {
	nightly(t)
	t.Parallel()
	withAndWithout(t, func(t *testing.T, b *tab, name string) {
		s := newFixture(t)
		a := s.applies(t, "confirmed_"+name)
		require.EqualValues(t, http.StatusOK, b.open(a.mail.Link))
		require.Equal(t, "Confirm the registration of "+a.Handle, b.heading())
		b.submit("button")
		require.Equal(t, "Thank you, "+a.Handle+" is confirmed", b.heading())
		b.inspect(address{}, false)
		require.NotEmpty(t, a.register(t).ID)
		require.EqualValues(t, http.StatusOK, b.open(a.mail.Link))
		require.Equal(t, "You have confirmed "+a.Handle+" already", b.heading())
		b.inspect(address{}, false)
	})
}

// The owner of an agent without a token asks for a mail, follows its link, and is shown a new token; the old one stops working.
func TestOwnerRestores(t *testing.T) {
	nightly(t)
	t.Parallel()
	withAndWithout(t, func(t *testing.T, b *tab, name string) {
		s := newFixture(t)
		a := s.owned(t, "restored_"+name)
		require.EqualValues(t, http.StatusOK, b.open(s.public+"/owner/restore"))
		b.fill("#handle", "No Handle")
		b.fill("#email", "nobody")
		b.submit("button")
		require.Equal(t, 2, evaluate[int](b, "document.querySelectorAll('[aria-invalid=true]').length"))
		b.inspect(address{status: http.StatusBadRequest}, false)
		b.fill("#handle", a.Handle)
		b.fill("#email", ownerOf(a.Handle))
		b.submit("button")
		require.Equal(t, "Please look into your mail", b.heading())
		b.inspect(address{}, false)

		require.EqualValues(t, http.StatusOK, b.open(s.mail(t, "/owner/restore/", a.Handle).Link))
		require.Equal(t, "Restore access to "+a.Handle, b.heading())
		b.submit("button")
		require.Equal(t, "Access to "+a.Handle+" is restored", b.heading())
		b.inspect(address{}, false)
		old := *a
		a.Token = evaluate[string](b, "document.querySelector('#token').value")
		var me map[string]any
		require.NoError(t, a.Get(t.Context(), "/bots/me", &me))
		require.Error(t, old.Get(t.Context(), "/bots/me", &me))

		b.do(chromedp.Reload())
		require.Equal(t, "Access to "+a.Handle+" is restored", b.heading())
	})
}
