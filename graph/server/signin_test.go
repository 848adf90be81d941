package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/server"
)

// listener is an operator listener with mounts, as browsers and scripts use it. Proxies at 127.0.0.1 are trusted.
type listener struct {
	*graphtest.World
	t      testing.TB
	server *httptest.Server
}

func newListener(t testing.TB, options ...func(*server.Config)) *listener {
	t.Helper()
	l := &listener{World: graphtest.New(t), t: t}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := viewer.From(r.Context())
		fmt.Fprintf(w, "%s %s by %s (%d)", r.Method, r.URL.Path, v.Name, v.Kind)
	})
	c := server.Config{
		Graph: l.Graph, OperatorToken: operatorToken, Logger: slog.New(slog.DiscardHandler), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Mounts:     []server.Mount{{Path: "/echo", Title: "Echo", Handler: echo}, {Path: "/figures", Open: true, ReadOnly: true, Handler: echo, Policy: "default-src 'none'"}},
		Stylesheet: []byte("body {}"),
	}
	for _, option := range options {
		option(&c)
	}
	l.server = httptest.NewServer(server.New(c))
	t.Cleanup(l.server.Close)
	return l
}

// httpAnswer is a response read to its end.
type httpAnswer struct {
	*http.Response
	text string
}

// send makes a request; headers are names and values in turn. Redirects are not followed.
func (l *listener) send(method, path, body string, headers ...string) httpAnswer {
	request := graphtest.Got(http.NewRequest(method, l.server.URL+path, strings.NewReader(body)))(l.t)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(l.t, err)
	defer response.Body.Close()
	return httpAnswer{response, string(graphtest.Got(io.ReadAll(response.Body))(l.t))}
}

// code is the fault of an answer.
func (s httpAnswer) code() fault.Code {
	var a answer
	_ = json.Unmarshal([]byte(s.text), &a) // an answer that is not JSON has no code
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Extensions.Code
}

const form = "application/x-www-form-urlencoded"

// submit sends a form of our own pages.
func (l *listener) submit(path string, fields url.Values, headers ...string) httpAnswer {
	return l.send(http.MethodPost, path, fields.Encode(), append(headers, "Content-Type", form, "Sec-Fetch-Site", "same-origin")...)
}

// cookie is the session that an answer begins, as a browser sends it.
func (s httpAnswer) cookie() string { return s.Cookies()[0].Name + "=" + s.Cookies()[0].Value }

// signIn returns the cookie that a browser sends after the sign-in.
func (l *listener) signIn(name string) string {
	answer := l.submit("/sign-in", url.Values{"token": {operatorToken}, "name": {name}})
	require.Equal(l.t, http.StatusSeeOther, answer.StatusCode, answer.text)
	require.Len(l.t, answer.Cookies(), 1)
	kept := answer.Cookies()[0]
	require.True(l.t, kept.HttpOnly)
	require.Equal(l.t, http.SameSiteStrictMode, kept.SameSite)
	require.Equal(l.t, 12*3600, kept.MaxAge)
	require.NotContains(l.t, kept.Value, operatorToken)
	return answer.cookie()
}

func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	l := newListener(t, func(c *server.Config) {
		c.Pages = func(ask server.Ask) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := ask(r.Context(), "query ($first: Int) { settings { feeBps } bots(first: $first) { totalCount } }", map[string]any{"first": 1})
				fmt.Fprintf(w, "%s for %s: %s %v", r.URL.Path, viewer.From(r.Context()).Name, answer.Data, answer.Errors)
			})
		}
	})
	cookie, agent := l.signIn("Ada"), l.Agent()
	const browser = "text/html,application/xhtml+xml;q=0.9"
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
		shows   string
	}{
		"health":                     {"/healthz", nil, 200, "ok"},
		"an open mount":              {"/figures", nil, 200, "GET /figures by  (0)"},
		"below an open mount":        {"/figures/all", nil, 200, "GET /figures/all"},
		"the style sheet":            {"/style.css", nil, 200, "body"},
		"the sign-in page":           {"/sign-in", nil, 200, "<form"},
		"the index":                  {"/", nil, 401, "unauthorized"},
		"a mount":                    {"/echo", nil, 401, "unauthorized"},
		"a mount in a browser":       {"/echo/a?b=c", []string{"Accept", browser}, 401, `value="/echo/a?b=c"`},
		"the index in a browser":     {"/", []string{"Accept", browser}, 401, "<form"},
		"a bearer":                   {"/echo/a", []string{"Authorization", "Bearer " + operatorToken}, 200, "GET /echo/a by operator (2)"},
		"a bearer with a name":       {"/echo", []string{"Authorization", "Bearer " + operatorToken, "X-Stoa-Operator", "Ben"}, 200, "by Ben"},
		"a bearer with a false name": {"/echo", []string{"Authorization", "Bearer " + operatorToken, "X-Stoa-Operator", strings.Repeat("n", 81)}, 400, `"fields":{"X-Stoa-Operator":`},
		"a wrong bearer":             {"/echo", []string{"Authorization", "Bearer wrong", "Accept", browser}, 401, "unauthorized"},
		"a wrong bearer and session": {"/echo", []string{"Authorization", "Bearer wrong", "Cookie", cookie}, 401, "unauthorized"},
		"an agent":                   {"/echo", []string{"Authorization", "Bearer " + agent.Token}, 401, "unauthorized"},
		"a session":                  {"/echo", []string{"Cookie", cookie}, 200, "GET /echo by Ada (2)"},
		"a session with a name":      {"/echo", []string{"Cookie", cookie, "X-Stoa-Operator", "Ben"}, 200, "by Ben"},
		"a session's index":          {"/", []string{"Cookie", cookie}, 200, `/ for Ada: {"settings":{"feeBps":1000},"bots":{"totalCount":1}}`},
		"a forged session":           {"/echo", []string{"Cookie", cookie + "A"}, 401, "unauthorized"},
		"the token as a session":     {"/echo", []string{"Cookie", "stoa_operator=" + operatorToken}, 401, "unauthorized"},
		"a path of the pages":        {"/nothing", []string{"Cookie", cookie}, 200, "/nothing for Ada"},
		"almost a mount":             {"/echoes", []string{"Cookie", cookie}, 200, "/echoes for Ada"},
		"a page without a session":   {"/nothing", nil, 401, "unauthorized"},
		"a page in a browser":        {"/nothing?a=b", []string{"Accept", browser}, 401, `value="/nothing?a=b"`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := l.send(http.MethodGet, c.path, "", c.headers...)
			require.Equal(t, c.status, answer.StatusCode, answer.text)
			require.Contains(t, answer.text, c.shows)
			require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
			challenge := ""
			if c.status == http.StatusUnauthorized {
				challenge = `Bearer realm="stoa"`
				if slices.Contains(c.headers, "Authorization") {
					challenge += `, error="invalid_token"`
				}
			}
			require.Equal(t, challenge, answer.Header.Get("WWW-Authenticate"))
			require.Equal(t, strings.HasPrefix(answer.text, "{"), answer.Header.Get("Content-Type") == "application/json")
		})
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "UNHEARD"} {
		refused := l.send(method, "/figures/all", "")
		require.Equal(t, http.StatusMethodNotAllowed, refused.StatusCode, "%s to a mount that is read-only", method)
		require.Equal(t, "GET, HEAD", refused.Header.Get("Allow"))
		require.Contains(t, refused.text, "method_not_allowed")
	}
	signedIn := l.submit("/sign-in", url.Values{"token": {operatorToken}, "next": {"/nothing"}})
	require.Equal(t, "/nothing", signedIn.Header.Get("Location"))
}

// A page of another site, or of another port of this host, cannot make a signed-in browser change anything.
func TestOtherSitesCannotUseASession(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	cookie := l.signIn("")
	const suspend = `{"query": "mutation { deactivateLifecycle(reason: \"because\") { feeBps } }"}`
	host := strings.TrimPrefix(l.server.URL, "http://")
	for name, c := range map[string]struct {
		headers []string
		allowed bool
	}{
		"our own page":                 {[]string{"Sec-Fetch-Site", "same-origin"}, true},
		"our own page, plainly":        {[]string{"Origin", "http://" + host}, true},
		"another port":                 {[]string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, false},
		"another port, plainly":        {[]string{"Origin", "http://127.0.0.1:1"}, false},
		"another site":                 {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}, false},
		"another site that claims us":  {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "http://" + host}, false},
		"typed":                        {[]string{"Sec-Fetch-Site", "none"}, false},
		"a page without origin":        {[]string{"Origin", "null"}, false},
		"neither":                      {nil, false},
		"a form":                       {[]string{"Sec-Fetch-Site", "same-origin", "Content-Type", form}, false},
		"plain text":                   {[]string{"Sec-Fetch-Site", "same-origin", "Content-Type", "text/plain"}, false},
		"another method in the header": {[]string{"Sec-Fetch-Site", "cross-site", "X-HTTP-Method-Override", "GET"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := l.Count("SELECT count(*) FROM audit_entries")
			answer := l.send(http.MethodPost, server.Path, suspend, append([]string{"Cookie", cookie, "Content-Type", "application/json"}, c.headers...)...)
			require.Equal(t, c.allowed, answer.StatusCode == http.StatusOK, answer.text)
			require.Equal(t, c.allowed, l.Count("SELECT count(*) FROM audit_entries") > before)
			if strings.Contains(strings.Join(c.headers, " "), "Content-Type") {
				return
			}
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				mounted := l.send(method, "/echo", "", append([]string{"Cookie", cookie}, c.headers...)...)
				require.Equal(t, c.allowed, mounted.StatusCode == http.StatusOK, mounted.text)
				require.Equal(t, !c.allowed, mounted.code() == fault.Forbidden)
			}
			signedOut := l.send(http.MethodPost, "/sign-out", "", append([]string{"Cookie", cookie}, c.headers...)...)
			require.Equal(t, c.allowed, signedOut.StatusCode == http.StatusSeeOther)
			signedIn := l.send(http.MethodPost, "/sign-in", "token="+operatorToken, append([]string{"Content-Type", form}, c.headers...)...)
			require.Equal(t, c.allowed, signedIn.StatusCode == http.StatusSeeOther)
		})
	}
	require.Equal(t, http.StatusMethodNotAllowed, l.send(http.MethodGet, server.Path+"?query={settings{feeBps}}", "", "Cookie", cookie).StatusCode)
	require.Equal(t, http.StatusMethodNotAllowed, l.send(http.MethodGet, "/sign-out", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin").StatusCode)
}

func TestSigningIn(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	post := func(values url.Values) httpAnswer { return l.submit("/sign-in", values) }
	for next, goes := range map[string]string{
		"": "/", "/echo": "/echo", "/echo/a?b=c": "/echo/a?b=c", "/": "/", "/nothing": "/", "//evil.example/echo": "/", "/\\evil.example": "/",
		"http://evil.example/echo": "/", "javascript:alert(1)": "/", "%zz": "/",
	} {
		answer := post(url.Values{"token": {operatorToken}, "next": {next}})
		require.Equal(t, http.StatusSeeOther, answer.StatusCode)
		require.Equal(t, goes, answer.Header.Get("Location"), next)
	}
	wrong := post(url.Values{"token": {"wrong"}, "name": {`"><script>`}, "next": {"/echo"}})
	require.Equal(t, http.StatusUnauthorized, wrong.StatusCode)
	require.Contains(t, wrong.text, "not an operator&#39;s token")
	require.Contains(t, wrong.text, `aria-describedby="complaint"`)
	require.NotContains(t, wrong.text, "<script>")
	require.Empty(t, wrong.Cookies())
	require.Equal(t, http.StatusBadRequest, post(url.Values{"token": {operatorToken}, "name": {"a\u202eb"}}).StatusCode)
	require.Equal(t, http.StatusRequestEntityTooLarge, post(url.Values{"token": {strings.Repeat("x", 20<<10)}}).StatusCode)

	out := l.send(http.MethodPost, "/sign-out", "", "Sec-Fetch-Site", "same-origin")
	require.Equal(t, "/sign-in", out.Header.Get("Location"))
	require.Negative(t, out.Cookies()[0].MaxAge)
}

// A form that is sent after the session has ended is kept on the page for another try. A page of another site gets no copy.
func TestAFormOutlivesItsSession(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	send := func(site string, fields url.Values) httpAnswer {
		return l.send(http.MethodPost, "/echo/a?b=c", fields.Encode(), "Content-Type", form, "Accept", "text/html", "Sec-Fetch-Site", site)
	}
	fields := url.Values{"text": {"a \"long\" text\nin lines", "and more"}, "reason": {"<b>"}}
	page := send("same-origin", fields)
	require.Equal(t, http.StatusUnauthorized, page.StatusCode)
	for _, holds := range []string{
		`<a href="/sign-in" target="_blank">`, `action="/echo/a?b=c"`, `name="reason" value="&lt;b&gt;"`, `name="text" value="and more"`,
		"name=\"text\" value=\"a &#34;long&#34; text\nin lines\"",
	} {
		require.Contains(t, page.text, holds)
	}
	require.NotContains(t, send("cross-site", fields).text, "<form")
	require.NotContains(t, send("same-origin", url.Values{"text": {strings.Repeat("x", 2<<20)}}).text, "<form")
}

// A code signs in once, and only through the form; a caller without the token gets no code.
func TestSigningInWithACode(t *testing.T) {
	t.Parallel()
	codes := new(server.SignInCodes)
	l := newListener(t, func(c *server.Config) { c.Codes = codes })
	spend := func(code string) httpAnswer { return l.submit("/sign-in", url.Values{"code": {code}, "name": {"Ada"}}) }
	codeOf := func(path string) string {
		parsed := graphtest.Got(url.Parse(path))(t)
		require.Equal(t, "/sign-in", parsed.Path)
		return parsed.Query().Get("code")
	}
	made := l.newCode("Authorization", "Bearer "+operatorToken)
	page := l.send(http.MethodGet, made, "", "Accept", "text/html")
	require.Contains(t, page.text, `name="code" value="`+codeOf(made)+`"`)
	require.NotContains(t, page.text, `name="token"`)
	require.Empty(t, page.Cookies(), "opening a link does not sign in")
	in := spend(codeOf(made))
	require.Equal(t, http.StatusSeeOther, in.StatusCode, in.text)
	require.Contains(t, l.whoami("Cookie", in.cookie()).text, "by Ada")
	again := spend(codeOf(made))
	require.Equal(t, http.StatusUnauthorized, again.StatusCode)
	require.Contains(t, again.text, "used up or too old")
	require.Contains(t, again.text, `name="token"`)

	require.Equal(t, http.StatusUnauthorized, spend(codeOf(codes.Path(time.Now().Add(-5*time.Minute), ""))).StatusCode, "too old")
	require.Equal(t, http.StatusUnauthorized, spend("").StatusCode)
	first := codeOf(codes.Path(time.Now(), ""))
	for range 16 {
		codes.Path(time.Now(), "")
	}
	require.Equal(t, http.StatusUnauthorized, spend(first).StatusCode, "newer ones end the oldest")
	session := l.signIn("Ada")
	for _, headers := range [][]string{{"Cookie", session, "Sec-Fetch-Site", "same-origin"}, {"Authorization", "Bearer wrong"}, {"Authorization", "Bearer " + l.Agent().Token}, nil} {
		require.Equal(t, http.StatusUnauthorized, l.send(http.MethodPost, "/sign-in/codes", "", headers...).StatusCode)
	}
}

// After too many guesses a client gets rate_limited, however it signs in. It never locks out the right token, a session, or
// another address.
func TestGuessing(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	cookie, agent := l.signIn(""), l.Agent()
	const settings = `{"query": "{ settings { feeBps } }"}`
	bearer := func(token string, more ...string) httpAnswer {
		return l.send(http.MethodGet, "/echo", "", append(more, "Authorization", "Bearer "+token)...)
	}
	ask := func(token string, more ...string) httpAnswer {
		return l.send(http.MethodPost, server.Path, settings, append(more, "Content-Type", "application/json", "Authorization", "Bearer "+token)...)
	}
	page := func(token string, more ...string) httpAnswer {
		return l.submit("/sign-in", url.Values{"token": {token}}, more...)
	}
	paths := map[string]func(string, ...string) httpAnswer{"a mount": bearer, "GraphQL": ask, "the sign-in page": page}
	own := l.invite("Kim")
	guesses := []string{"guess", "stoa_operator_" + strings.Repeat("A", 26), "stoa_" + strings.Repeat("A", 49), operatorToken + "x", operatorToken[1:]}
	for _, client := range []string{"192.0.2.7", "2001:db8:1:2::1"} {
		for i := range 10 {
			for name, try := range paths {
				require.Equal(t, http.StatusUnauthorized, try(guesses[i%2], "X-Forwarded-For", client).StatusCode, name)
			}
		}
	}
	for name, try := range paths {
		for _, client := range []string{"192.0.2.7", "198.51.100.1, 192.0.2.7", "2001:db8:1:2::1", "2001:db8:1:2:ffff::1"} {
			for _, guess := range guesses {
				refused := try(guess, "X-Forwarded-For", client)
				require.Equal(t, http.StatusTooManyRequests, refused.StatusCode, name)
				require.Equal(t, "60", refused.Header.Get("Retry-After"))
				require.Empty(t, refused.Cookies())
			}
			for _, right := range []string{operatorToken, own} {
				passed := try(right, "X-Forwarded-For", client)
				require.Less(t, passed.StatusCode, 400, "the right token passes %s: %s", name, passed.text)
			}
		}
		for _, other := range []string{"192.0.2.8", "2001:db8:1:3::1"} {
			require.Equal(t, http.StatusUnauthorized, try("guess", "X-Forwarded-For", other).StatusCode, "%s for another address", name)
		}
	}
	require.Equal(t, fault.RateLimited, bearer("guess", "X-Forwarded-For", "192.0.2.7").code())
	require.Contains(t, page("guess", "X-Forwarded-For", "192.0.2.7").text, "Too many wrong ones")
	me := l.send(http.MethodPost, server.Path, `{"query": "{ me { bot { id } } }"}`, "Content-Type", "application/json",
		"Authorization", "Bearer "+agent.Token, "X-Forwarded-For", "192.0.2.7")
	require.Contains(t, me.text, agent.ID.String(), "an agent's token passes too")
	require.Equal(t, http.StatusOK, l.send(http.MethodGet, "/echo", "", "Cookie", cookie, "X-Forwarded-For", "192.0.2.7").StatusCode, "a session still works")
}

// Over https the cookie is Secure and bound to the host, also if a proxy terminates https.
func TestTheCookieIsSecureOverHTTPS(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	const proto = "X-Forwarded-Proto"
	made := l.submit("/sign-in", url.Values{"token": {operatorToken}}, proto, "https")
	require.Equal(t, http.StatusSeeOther, made.StatusCode, made.text)
	kept := made.Cookies()[0]
	require.Equal(t, "__Host-stoa_operator", kept.Name)
	require.True(t, kept.Secure && kept.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, kept.SameSite)
	require.Equal(t, "/", kept.Path)
	require.Empty(t, kept.Domain)
	require.Equal(t, http.StatusOK, l.whoami("Cookie", made.cookie(), proto, "https").StatusCode)
	require.Equal(t, http.StatusUnauthorized, l.whoami("Cookie", made.cookie()).StatusCode, "it was sent over http")
	forced := "stoa_operator=" + kept.Value
	require.Equal(t, http.StatusUnauthorized, l.send(http.MethodGet, "/echo", "", "Cookie", forced, proto, "https").StatusCode, "a page over http can make this one")
	out := l.send(http.MethodPost, "/sign-out", "", "Sec-Fetch-Site", "same-origin", proto, "https").Cookies()[0]
	require.Equal(t, "__Host-stoa_operator", out.Name)
	require.True(t, out.Secure && out.MaxAge < 0)
}
