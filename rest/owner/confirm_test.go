package owner_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
)

func TestConfirmRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, mail := w.apply("echo")
	key, err := base64.StdEncoding.DecodeString(a.key)
	require.NoError(t, err)
	before := w.rows()
	var shown *page
	for range 2 {
		shown = w.get(mail.path).status(http.StatusOK)
	}
	require.Equal(t, http.StatusOK, w.send(http.MethodHead, mail.path, "").code)
	require.Equal(t, before, w.rows(), "looking changes nothing")
	require.Equal(t, "Confirm the registration of echo", shown.title())
	shown.says("a***@example.org", bots.Fingerprint(key), "Terms of use, version 1", "SHA-256 "+hash("the terms\n"),
		"This server is run by Bea & Sons, bea@stoa.example.")
	require.NotContains(t, string(shown.raw), ada)
	require.NotContains(t, string(shown.raw), mail.code)
	document := shown.form().Get("document")
	require.Contains(t, shown.links(), "/owner/documents/"+document)
	w.get("/owner/documents/" + document).status(http.StatusOK).says("the terms")

	thanks := w.post(mail.path, shown.form()).status(http.StatusOK)
	require.Equal(t, "Thank you, echo is confirmed", thanks.title())
	thanks.says("six digits of the mail")
	for _, again := range []*page{w.get(mail.path), w.post(mail.path, shown.form())} {
		require.Equal(t, "You have confirmed echo already", again.status(http.StatusOK).title())
	}
	proof, err := w.verify(a, mail.code)
	require.NoError(t, err)
	require.NotEmpty(t, proof.VerificationToken)
	require.Equal(t, "You have confirmed echo already", w.get(mail.path).status(http.StatusOK).title())
}

func TestConfirmLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("UPDATE settings SET email_gate_enabled = false")
	w.Exec("UPDATE documents SET withdrawn_at = stoa_now()")
	agent := w.Agent()
	me, err := w.Bots.Me(agent.Ctx)
	require.NoError(t, err)
	handle := me.Bot.Handle
	_, err = w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: graphtest.Ptr(ada)})
	require.NoError(t, err)
	mail := w.lastMail(ada)
	shown := w.get(mail.path).status(http.StatusOK)
	require.Equal(t, "Is "+handle+" your agent?", shown.title())
	require.NotContains(t, textOf(shown.root), "Documents to confirm")
	require.Equal(t, "Thank you, "+handle+" is confirmed", w.submit(mail.path).status(http.StatusOK).title())
}

// A confirmation is valid only for the documents that the page showed.
func TestConfirmChangedDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish("Privacy", "1", "privacy")
	a, mail := w.apply("echo")
	shown := w.get(mail.path).status(http.StatusOK).form()
	require.Len(t, shown["document"], 2)
	w.publish("Privacy", "2", "less privacy")
	for _, form := range []url.Values{
		shown, {"document": {"x"}}, {"document": shown["document"][:1]}, {"document": append(shown["document"], uuid.NewString())},
	} {
		again := w.post(mail.path, form).status(http.StatusConflict)
		again.says("The documents have changed since you opened this page", "Privacy, version 2")
		require.Equal(t, "alert", attribute(again.find("p")[1], "role"))
	}
	_, err := w.verify(a, mail.code)
	graphtest.RequireFault(t, err, fault.StateConflict)
	require.Equal(t, "Thank you, echo is confirmed", w.submit(mail.path).status(http.StatusOK).title())

	_, other := w.apply("delta")
	require.Equal(t, "Thank you, delta is confirmed", w.post(other.path, nil).status(http.StatusOK).title(), "whoever names none means those in force")
}

func TestConfirmClosedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := func(path string, code int, title, hint string) {
		t.Helper()
		before := w.rows()
		for _, p := range []*page{w.get(path), w.post(path, url.Values{})} {
			require.Equal(t, title, p.status(code).says(hint).title())
			require.Empty(t, p.find("form"))
		}
		require.Equal(t, before, w.rows())
	}
	_, replaced := w.apply("echo")
	w.Shift(2 * time.Minute)
	a, spent := w.apply("echo")
	closed(replaced.path, http.StatusGone, "This link was replaced", "the newest mail")
	for range 5 {
		_, err := w.verify(a, "000000")
		require.Error(t, err)
	}
	closed(spent.path, http.StatusGone, "This link no longer works", "Too many wrong codes")
	_, expired := w.apply("other")
	w.Shift(2*time.Minute + 10*time.Minute)
	closed(expired.path, http.StatusGone, "This link has expired", "ask for a new mail")

	_, mail := w.apply("third")
	id, token := strings.Split(mail.path, "/")[3], strings.Split(mail.path, "/")[4]
	cut := mail.path[:len(mail.path)-1]
	for _, unknown := range []string{
		cut, mail.path + "A", cut + "%20", strings.Replace(mail.path, id, uuid.NewString(), 1), strings.Replace(mail.path, id, "x", 1),
		strings.Replace(mail.path, "confirm", "restore", 1), strings.Replace(spent.path, strings.Split(spent.path, "/")[4], token, 1),
	} {
		closed(unknown, http.StatusNotFound, "This link does not work", "copied as a whole")
	}
	require.Equal(t, "There is no such page", w.get(mail.path+"/").status(http.StatusNotFound).title())
}
