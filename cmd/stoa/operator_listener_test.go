package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// browser is signed in on the operator listener.
type browser struct {
	*testServer

	client *http.Client
}

// newBrowser opens a link that signs in once, under a name, and returns the first page.
func newBrowser(t testing.TB, s *testServer, link, name string) (b *browser, page string) {
	t.Helper()
	address := graphtest.Got(url.Parse(link))(t)
	require.Equal(t, s.operator, address.Scheme+"://"+address.Host)
	b = &browser{s, &http.Client{Jar: graphtest.Got(cookiejar.New(nil))(t)}}
	_, text := b.send(http.MethodGet, address.RequestURI(), "", "")
	require.Contains(t, text, `name="code"`)
	return b, b.submit(url.Values{"code": {address.Query().Get("code")}, "name": {name}})
}

// submit sends the form of the page that signs in, and returns the page that follows.
func (b *browser) submit(form url.Values) string {
	b.t.Helper()
	answer, text := b.send(http.MethodPost, "/sign-in", form.Encode(), "application/x-www-form-urlencoded")
	require.Equal(b.t, http.StatusOK, answer.status)
	require.Contains(b.t, text, "Signed in as <bdi>"+form.Get("name")+"</bdi>")
	return text
}

// A server that is started by hand prints its addresses and a link that signs in once. In TestConfinement a server without a
// terminal prints no link.
func TestWelcome(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_OPERATOR_TOKEN="+givenToken, "STOA_WELCOME=true")
	s.log.await(t, "a story")
	for _, page := range []string{s.url + "/", s.url + "/skill.md"} {
		require.Contains(t, s.log.String(), " "+page+"\n")
		require.Equal(t, http.StatusOK, s.fetch(page).status, page)
	}
	_, text := newBrowser(t, s, regexp.MustCompile(`http\S+sign-in\S+`).FindString(s.log.String()), "Ada")
	require.Contains(t, text, "<h1 dir=\"auto\">Overview</h1>")
}

// send makes a request as a page of the listener does, and follows redirects.
func (b *browser) send(method, path, body, media string) (answer *httpAnswer, text string) {
	b.t.Helper()
	request := b.request(method, b.operator+path, "", media, []byte(body))
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	request.Header.Set("Accept", "text/html,*/*")
	response, err := b.client.Do(request)
	require.NoError(b.t, err)
	answer = readAnswer(b.t, response)
	return answer, string(answer.raw)
}

var (
	references = regexp.MustCompile(`<(?:script|link|a|img|form)\b[^>]*\b(?:src|href|action)="([^"]*)"`)
	inline     = regexp.MustCompile(`<style|\son[a-z]+="|\sstyle="|<script>|javascript:`)
)

// Every page that the index links to loads nothing from other origins and obeys its Content-Security-Policy.
func TestOperatorPages(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_OPERATOR_TOKEN="+givenToken)
	b := &browser{s, &http.Client{Jar: graphtest.Got(cookiejar.New(nil))(t)}}
	b.submit(url.Values{"token": {givenToken}, "name": {t.Name()}})
	// /readyz shows more here than the description of the public listener, with which the test's transport compares it.
	seen, next := map[string]bool{"/sign-out": true, "/readyz": true}, []string{"/", "/sign-in", "/jobs/"}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		answer, text := b.send(http.MethodGet, path, "", "")
		require.Equal(t, http.StatusOK, answer.status, path)
		require.Equal(t, s.operator, "http://"+answer.from.Host)
		if !strings.HasPrefix(answer.header.Get("Content-Type"), "text/html") {
			continue
		}
		policy := answer.header.Get("Content-Security-Policy")
		for _, rule := range []string{"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} {
			require.Contains(t, policy, rule, path)
		}
		require.NotContains(t, policy, "unsafe-eval")
		if !strings.Contains(policy, "'unsafe-inline'") {
			require.NotRegexp(t, inline, text, path)
		}
		for _, found := range references.FindAllStringSubmatch(text, -1) {
			to := graphtest.Got(answer.from.Parse(found[1]))(t)
			require.Equal(t, strings.TrimPrefix(s.operator, "http://"), to.Host, "%s refers to another origin: %s", path, to)
			if !strings.HasPrefix(to.Path, "/debug/") { // a profile that runs for seconds is not a page
				next = append(next, to.RequestURI())
			}
		}
	}
	for _, path := range []string{"/playground", "/jobs", "/docs", "/docs/running.md", "/agents", "/settings", "/procedures/updateSettings"} {
		require.True(t, seen[path], "the index leads to %s", path)
	}
}

// A link that `stoa operator sign-in` prints signs one browser in, and the overview shows the process.
func TestOneTimeSignInLink(t *testing.T) {
	t.Parallel()
	o := newOperatorConsole(t, sharedServer(t))
	b, _ := newBrowser(t, o.testServer, strings.TrimSpace(o.text("sign-in")), "Ada")
	eventually(t, func() bool {
		_, text := b.send(http.MethodGet, "/", "", "")
		return strings.Contains(text, "api, events, jobs") && strings.Contains(text, "free")
	}, "the overview does not show the process")
	require.Contains(t, runJSON[row](o, "sign-in")["url"], "/sign-in?code=")
	fails(t, exitFailure, "the token came from")(o.run("--token="+strings.Repeat("x", 40), "sign-in"))
}
