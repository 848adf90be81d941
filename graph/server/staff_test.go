package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// invite makes an own token for an operator.
func (l *listener) invite(name string) string {
	l.t.Helper()
	ctx := viewer.With(l.t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	return graphtest.Got(l.Operator.InviteOperator(ctx, name, "joins us"))(l.t).Token
}

// whoami requests /echo, which names the caller, with these headers.
func (l *listener) whoami(headers ...string) httpAnswer {
	l.t.Helper()
	return l.send(http.MethodGet, "/echo", "", headers...)
}

// An operator with an own token is known by its name, whatever the header says, from the invitation to the revocation.
func TestAnOwnTokenNamesItsOperator(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	token := l.invite("Kim Example")
	bearer := []string{"Authorization", "Bearer " + token, "X-Stoa-Operator", "Ben"}
	require.Contains(t, l.whoami(bearer...).text, "by Kim Example (2)")
	signIn := func(fields url.Values) httpAnswer {
		return l.send(http.MethodPost, "/sign-in", fields.Encode(), "Content-Type", form, "Sec-Fetch-Site", "same-origin")
	}
	in := signIn(url.Values{"token": {" " + token + "\n"}, "name": {"Ben"}})
	require.Equal(t, http.StatusSeeOther, in.StatusCode, in.text)
	session := in.Cookies()[0].Name + "=" + in.Cookies()[0].Value
	require.NotContains(t, session, token)
	require.Contains(t, l.whoami("Cookie", session, "X-Stoa-Operator", "Ben").text, "by Kim Example")

	var made struct {
		Path string `json:"path"`
	}
	require.NoError(t, json.Unmarshal([]byte(l.send(http.MethodPost, "/sign-in/codes", "", bearer...).text), &made))
	_, code, _ := strings.Cut(made.Path, "code=")
	in = signIn(url.Values{"code": {code}, "name": {"Ben"}})
	require.Equal(t, http.StatusSeeOther, in.StatusCode, in.text)
	require.Contains(t, l.whoami("Cookie", in.Cookies()[0].Name+"="+in.Cookies()[0].Value).text, "by Kim Example")

	require.Zero(t, l.Count("SELECT count(*) FROM operators WHERE left_at IS NOT NULL"))
	l.send(http.MethodPost, "/sign-out", "", "Cookie", session, "Sec-Fetch-Site", "same-origin")
	require.EqualValues(t, 1, l.Count("SELECT count(*) FROM operators WHERE left_at > stoa_now() - interval '1 minute'"), "the next shift begins here")

	require.Empty(t, l.Traces(token), "only its hash is kept")
	ctx := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	graphtest.OK(t)(l.Operator.RevokeOperator(ctx, "kim example", "left us"))
	for _, headers := range [][]string{bearer, {"Cookie", session}} {
		require.Equal(t, http.StatusUnauthorized, l.whoami(headers...).StatusCode)
	}
	again := l.invite("Kim Example")
	require.NotEqual(t, token, again)
	require.Equal(t, http.StatusUnauthorized, l.whoami(bearer...).StatusCode)
	require.Contains(t, l.whoami("Authorization", "Bearer "+again).text, "by Kim Example")
}

// The token of the installation cannot act under the name of an operator with an own token: not in a header, not at the sign-in,
// and not in an older session.
func TestInstallationTokenTakesNoOperatorsName(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	before := l.signIn("Kim")
	require.Contains(t, l.whoami("Cookie", before).text, "by Kim")
	l.invite("KIM")
	installation := "Bearer " + operatorToken
	require.Equal(t, fault.Forbidden, l.whoami("Authorization", installation, "X-Stoa-Operator", "kim").code())
	require.Equal(t, fault.Unauthorized, l.whoami("Cookie", before).code())
	refused := l.send(http.MethodPost, "/sign-in", url.Values{"token": {operatorToken}, "name": {"Kim"}}.Encode(), "Content-Type", form, "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusForbidden, refused.StatusCode)
	require.Contains(t, refused.text, "An operator of this name has a token")
	require.Contains(t, l.whoami("Authorization", installation).text, "by operator")
}

// Wrong tokens of the right form are counted like any others, and lock out no right one.
func TestGuessesOfOwnTokensAreCounted(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	token := l.invite("Kim")
	wrong := token[:len(token)-1] + map[bool]string{true: "A", false: "B"}[token[len(token)-1] == 'B']
	for range 30 {
		require.Equal(t, fault.Unauthorized, l.whoami("Authorization", "Bearer "+wrong).code())
	}
	require.Equal(t, fault.RateLimited, l.whoami("Authorization", "Bearer "+wrong).code())
	require.Equal(t, http.StatusOK, l.whoami("Authorization", "Bearer "+token).StatusCode)
}

// A shift begins at the operator's last request before an absence of half an hour.
func TestAShiftBeginsWhenTheOperatorLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	kim := graphtest.Got(s.Operator.InviteOperator(ctx, "Kim", "joins us"))(t).Token
	shift := func(token string) map[string]any {
		return s.ask(token, `{ shift { at since done { operator procedure count } happened { kind count } } }`, nil).ok("shift")
	}
	span := func(of map[string]any) time.Duration {
		at, err := time.Parse(time.RFC3339, of["at"].(string))
		require.NoError(t, err)
		since, err := time.Parse(time.RFC3339, of["since"].(string))
		require.NoError(t, err)
		return at.Sub(since).Round(time.Minute)
	}
	require.Equal(t, 12*time.Hour, span(shift(kim)), "never away")
	require.Equal(t, 12*time.Hour, span(shift(operatorToken)))
	s.Shift(20 * time.Hour)
	agent := s.Agent()
	s.ask(operatorToken, `mutation ($id: ID!) { noteBot(botId: $id, reason: "a friend") { id } }`, variables{"id": agent.ID}).ok("noteBot")
	for range 2 {
		found := shift(kim)
		require.Equal(t, 20*time.Hour, span(found))
		require.Equal(t, []any{map[string]any{"operator": "operator", "procedure": "noteBot", "count": float64(1)}}, found["done"])
		require.Equal(t, []any{map[string]any{"kind": "agents", "count": float64(1)}}, found["happened"])
	}
	s.Shift(10 * time.Minute)
	require.Equal(t, 20*time.Hour+10*time.Minute, span(shift(kim)), "a break is no end")
}
