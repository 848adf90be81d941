package owner_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.register("echo")
	older, mail := w.askRestore("echo"), w.askRestore("echo")
	before := w.rows()
	for range 2 {
		shown := w.get(mail.path).status(http.StatusOK)
		require.Equal(t, "Restore access to echo", shown.title())
		require.NotContains(t, string(shown.raw), "textarea")
	}
	require.Equal(t, before, w.rows(), "looking changes nothing")
	_, err := w.Auth.Authenticate(context.Background(), made.Token, false)
	require.NoError(t, err)

	restored := w.submit(mail.path).status(http.StatusOK)
	require.Equal(t, "Access to echo is restored", restored.title())
	token := restored.token()
	w.secrets = append(w.secrets, token)
	v, err := w.Auth.Authenticate(context.Background(), token, false)
	require.NoError(t, err)
	require.Equal(t, made.Bot.ID, v.BotID)
	_, err = w.Auth.Authenticate(context.Background(), made.Token, false)
	graphtest.RequireFault(t, err, fault.Unauthorized)
	restored.says("Valid until "+w.Now().Add(720*time.Hour).Format("2 January 2006"), "old tokens no longer work")

	shown := w.get(mail.path).status(http.StatusOK)
	require.Equal(t, "Access to echo was restored", shown.title())
	require.NotContains(t, string(shown.raw), token, "a GET shows no token")
	require.Equal(t, token, w.submit(mail.path).token(), "a repeat shows the same token")
	require.Equal(t, "This link was replaced", w.get(older.path).status(http.StatusGone).title())
	require.Equal(t, "This link was replaced", w.post(older.path, nil).status(http.StatusGone).title())

	w.Shift(11 * time.Minute)
	for _, late := range []*page{w.get(mail.path), w.post(mail.path, nil)} {
		require.Equal(t, "This link was used already", late.status(http.StatusOK).title())
		require.NotContains(t, string(late.raw), token)
		require.Contains(t, late.links(), "/owner/restore")
	}
}

func TestRestoreClosedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.register("echo")
	mail := w.askRestore("echo")
	closed := func(code int, title string) {
		t.Helper()
		for _, p := range []*page{w.get(mail.path), w.post(mail.path, nil)} {
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
	require.Equal(t, right.raw, ask("nobody", ada).raw)
	require.Equal(t, right.raw, ask("echo", "bea@example.org").raw)
	require.Equal(t, right.raw, ask("echo", ada).raw, "beyond the limit of a client address, too")
	w.examineRestores()
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
		require.Equal(t, "Access cannot be restored by email here", pending.status(http.StatusServiceUnavailable).title())
		require.NotEmpty(t, pending.header.Get("Retry-After"))
	}
}
