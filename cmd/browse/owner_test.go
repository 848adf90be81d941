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
	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// applicant is an agent that waits until its owner has confirmed it.
type applicant struct {
	*member
	challenge client.Challenge
	mail      *letter.Letter
}

func ownerOf(handle string) string { return handle + "@example.org" }

// path is the last two parts of the link of the applicant's mail.
func (a applicant) path(s *server) string { return lastParts(s, a.mail.Link) }

func lastParts(s *server, link string) string {
	return strings.Join(strings.Split(strings.TrimPrefix(link, s.public), "/")[3:], "/")
}

// applies makes an agent ask for the mail to its owner.
func (s *fixture) applies(t *testing.T, handle string) applicant {
	t.Helper()
	made := s.newMember(t, handle)
	asked := graphtest.Got(made.AskOwner(t.Context(), ownerOf(handle), handle))(t)
	return applicant{made, asked, s.mail(t, "/owner/confirm/", handle)}
}

// admit sends the code of the mail, which is valid once the owner has confirmed, and registers the agent.
func (a applicant) admit(t *testing.T) *member {
	t.Helper()
	fields := graphtest.Got(a.Prove(t.Context(), a.challenge, a.mail.Code))(t)
	fields["display_name"] = a.handle
	a.register(t, fields)
	return a.member
}

// owned registers an agent whose owner has confirmed it.
func (s *fixture) owned(t *testing.T, handle string) *member {
	t.Helper()
	a := s.applies(t, handle)
	response, err := http.PostForm(a.mail.Link, url.Values{"confirm": {"yes"}})
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	return a.admit(t)
}

// forgets requests the mail that restores access, and returns the last two parts of its link.
func (s *fixture) forgets(t *testing.T, a *member) string {
	t.Helper()
	response, err := http.PostForm(s.public+"/owner/restore", url.Values{"handle": {a.handle}, "email": {ownerOf(a.handle)}})
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	return lastParts(s.server, s.mail(t, "/owner/restore/", a.handle).Link)
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
		require.Equal(t, "Confirm the registration of "+a.handle, b.heading())
		b.submit("button")
		require.Equal(t, "Thank you, "+a.handle+" is confirmed", b.heading())
		b.inspect(address{}, false)
		require.NotEmpty(t, a.admit(t).id)
		require.EqualValues(t, http.StatusOK, b.open(a.mail.Link))
		require.Equal(t, "You have confirmed "+a.handle+" already", b.heading())
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
		b.fill("#handle", a.handle)
		b.fill("#email", ownerOf(a.handle))
		b.submit("button")
		require.Equal(t, "Please look into your mail", b.heading())
		b.inspect(address{}, false)

		require.EqualValues(t, http.StatusOK, b.open(s.mail(t, "/owner/restore/", a.handle).Link))
		require.Equal(t, "Restore access to "+a.handle, b.heading())
		b.submit("button")
		require.Equal(t, "Access to "+a.handle+" is restored", b.heading())
		b.inspect(address{}, false)
		_, err := a.Me(t.Context())
		require.Error(t, err)
		a.SetToken(evaluate[string](b, "document.querySelector('#token').value"))
		graphtest.OK(t)(a.Me(t.Context()))

		b.do(chromedp.Reload())
		require.Equal(t, "Access to "+a.handle+" is restored", b.heading())
	})
}
