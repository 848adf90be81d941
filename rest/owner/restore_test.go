package owner_test

import (
	"context"
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
	"stoa/graph/platform/limits"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.register("echo")
	older, mail := w.wish("/owner/restore"), w.wish("/owner/restore")
	before := w.rows()
	for range 2 {
		shown := w.get(mail).status(http.StatusOK)
		require.Equal(t, "Restore access to echo", shown.title())
		require.NotContains(t, string(shown.raw), "textarea")
	}
	require.Equal(t, before, w.rows(), "looking changes nothing")
	graphtest.OK(t)(w.Auth.Authenticate(context.Background(), made.Token, false))

	restored := w.submit(mail).status(http.StatusOK)
	require.Equal(t, "Access to echo is restored", restored.title())
	token := restored.token()
	w.secrets = append(w.secrets, token)
	require.Equal(t, made.Bot.ID, graphtest.Got(w.Auth.Authenticate(context.Background(), token, false))(t).BotID)
	graphtest.Refused(t, fault.Unauthorized)(w.Auth.Authenticate(context.Background(), made.Token, false))
	restored.says("Valid until "+w.Now().Add(720*time.Hour).Format("2 January 2006"), "old tokens no longer work")

	shown := w.get(mail).status(http.StatusOK)
	require.Equal(t, "Access to echo was restored", shown.title())
	require.NotContains(t, string(shown.raw), token, "a GET shows no token")
	require.Equal(t, token, w.submit(mail).token(), "a repeat shows the same token")
	require.Equal(t, "This link was replaced", w.get(older).status(http.StatusGone).title())
	require.Equal(t, "This link was replaced", w.post(older, nil).status(http.StatusGone).title())

	w.Shift(11 * time.Minute)
	for _, late := range []*page{w.get(mail), w.post(mail, nil)} {
		require.Equal(t, "This link was used already", late.status(http.StatusOK).title())
		require.NotContains(t, string(late.raw), token)
		require.Contains(t, late.links(), "/owner/restore")
	}
}

func TestRestoreClosedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.register("echo")
	mail := w.wish("/owner/restore")
	closed := func(code int, title string) {
		t.Helper()
		for _, p := range []*page{w.get(mail), w.post(mail, nil)} {
			require.Equal(t, title, p.status(code).title())
			require.Empty(t, p.find("form"))
		}
	}
	for _, c := range []struct{ change, back string }{
		{"UPDATE bots SET suspended_at = stoa_now()", "UPDATE bots SET suspended_at = NULL"},
		{"UPDATE bots SET state = 'deleted'", "UPDATE bots SET state = 'active'"},
		{"UPDATE settings SET restore_enabled = false", "UPDATE settings SET restore_enabled = true"},
	} {
		w.Exec(c.change)
		closed(http.StatusForbidden, "Access to echo cannot be restored")
		w.Exec(c.back)
	}
	_, err := w.Auth.Authenticate(context.Background(), made.Token, false)
	require.NoError(t, err, "nothing was restored")
	w.Shift(25 * time.Hour)
	closed(http.StatusGone, "This link has expired")
	w.Exec("DELETE FROM restores")
	closed(http.StatusNotFound, "This link does not work")
}

// The form's answer does not reveal whether agent and address belong together.
func TestRequestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{RestoresPerAddressPerHour: 3}))
	w.register("echo")
	mails := len(w.Mails(ada))
	empty := w.get("/owner/restore").status(http.StatusOK)
	require.Equal(t, url.Values{"handle": {""}, "email": {""}}, empty.form())
	require.NotContains(t, string(empty.raw), "aria-invalid")
	ask := func(handle, email string) *page {
		return w.post("/owner/restore", url.Values{"handle": {handle}, "email": {email}}).status(http.StatusOK)
	}
	right := ask(" echo ", "Ada@example.org\n")
	require.Equal(t, "Please look into your mail", right.title())
	require.Contains(t, right.header.Get("RateLimit"), `"restores_per_address";r=2;`)
	require.Equal(t, right.raw, ask("nobody", ada).raw)
	require.Equal(t, right.raw, ask("echo", "bea@example.org").raw)
	require.Equal(t, right.raw, ask("echo", ada).raw, "beyond the limit of a client address, too")
	w.work()
	require.Len(t, w.Mails(ada), mails+1)
	require.Empty(t, w.Mails("bea@example.org"))

	wrong := w.post("/owner/restore", url.Values{"handle": {`E"><script>`}, "email": {"<b>@"}}).status(http.StatusBadRequest)
	wrong.says("The handle must be", "The address must be")
	require.Equal(t, url.Values{"handle": {`E"><script>`}, "email": {"<b>@"}}, wrong.form(), "what was typed stays")
	for _, n := range wrong.find("input") {
		require.Equal(t, "true", attribute(n, "aria-invalid"))
		require.Contains(t, attribute(n, "aria-describedby"), "wrong-"+attribute(n, "name"))
	}
	w.post("/owner/restore", url.Values{}).status(http.StatusBadRequest).says("The handle is required.", "The address is required.")

	w.Exec("UPDATE settings SET restore_enabled = false")
	for _, pending := range []*page{w.get("/owner/restore"), w.post("/owner/restore", url.Values{})} {
		require.Equal(t, "That cannot be done by email here", pending.status(http.StatusServiceUnavailable).title())
		require.NotEmpty(t, pending.header.Get("Retry-After"))
	}
}

func TestConfirmRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("UPDATE settings SET operator_name = 'Bea & Sons', operator_contact_email = 'bea@stoa.example'")
	a, mail := w.apply("echo")
	key := graphtest.Got(base64.StdEncoding.DecodeString(a.key))(t)
	before := w.rows()
	var shown *page
	for range 2 {
		shown = w.get(mail.path).status(http.StatusOK)
	}
	require.Equal(t, http.StatusOK, w.send(http.MethodHead, mail.path, "").code)
	require.Equal(t, before, w.rows(), "looking changes nothing")
	require.Equal(t, "Confirm the registration of echo", shown.title())
	shown.says("a***@example.org", bots.Fingerprint(key), "Terms, version 1", "SHA-256 "+hash("Be kind.\n"),
		"This server is run by Bea & Sons, bea@stoa.example.")
	require.NotContains(t, string(shown.raw), ada)
	require.NotContains(t, string(shown.raw), mail.code)
	document := shown.form().Get("document")
	require.Contains(t, shown.links(), "/owner/documents/"+document)
	w.get("/owner/documents/" + document).status(http.StatusOK).says("Be kind.")

	thanks := w.post(mail.path, shown.form()).status(http.StatusOK)
	require.Equal(t, "Thank you, echo is confirmed", thanks.title())
	thanks.says("six digits of the mail")
	for _, again := range []*page{w.get(mail.path), w.post(mail.path, shown.form())} {
		require.Equal(t, "You have confirmed echo already", again.status(http.StatusOK).title())
	}
	require.NotEmpty(t, graphtest.Got(w.verify(a, mail.code))(t).VerificationToken)
	require.Equal(t, "You have confirmed echo already", w.get(mail.path).status(http.StatusOK).title())
}

func TestConfirmLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("UPDATE settings SET email_gate_enabled = false")
	w.Exec("UPDATE documents SET withdrawn_at = stoa_now()")
	agent := w.Agent()
	me := graphtest.Got(w.Bots.Me(agent.Ctx))(t)
	handle := me.Bot.Handle
	graphtest.OK(t)(w.Owners.RequestOwnerEmail(agent.Ctx, owners.OwnerEmailInput{Email: graphtest.Ptr(ada)}))
	mail := w.lastMail()
	shown := w.get(mail.path).status(http.StatusOK)
	require.Equal(t, "Is "+handle+" your agent?", shown.title())
	require.NotContains(t, textOf(shown.root), "Documents to confirm")
	require.Equal(t, "Thank you, "+handle+" is confirmed", w.submit(mail.path).status(http.StatusOK).title())
}

// A confirmation is valid only for the documents that the page showed.
func TestConfirmChangedDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Publish("privacy", "1", "privacy")
	a, mail := w.apply("echo")
	shown := w.get(mail.path).status(http.StatusOK).form()
	require.Len(t, shown["document"], 2)
	w.Publish("privacy", "2", "less privacy")
	for _, form := range []url.Values{
		shown, {"document": {"x"}}, {"document": shown["document"][:1]}, {"document": append(shown["document"], uuid.NewString())},
	} {
		again := w.post(mail.path, form).status(http.StatusConflict)
		again.says("The documents have changed since you opened this page", "Privacy, version 2")
		require.Equal(t, "alert", attribute(again.find("p")[1], "role"))
	}
	graphtest.Refused(t, fault.StateConflict)(w.verify(a, mail.code))
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
		require.Error(t, graphtest.Err(w.verify(a, "000000")))
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
