//go:build browse

package browse_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var signInOnce sync.Once

// signIn gives the browser a session of an operator, which all tabs share. The first try is with a wrong token.
func signIn(t *testing.T) {
	t.Helper()
	s := newFixture(t)
	signInOnce.Do(func() {
		b := newTab(t)
		b.look(views[0])
		refused := address{status: http.StatusUnauthorized}
		require.EqualValues(t, http.StatusUnauthorized, b.open(s.operator+"/"))
		b.inspect(refused, true)
		b.sendToken("a-wrong-token-of-more-than-32-characters")
		require.NotEmpty(t, evaluate[string](b, "document.querySelector('[role=alert]').textContent"))
		b.inspect(refused, true)
		b.sendToken(operatorToken)
		require.EqualValues(t, http.StatusOK, b.open(s.operator+"/"))
	})
}

// sendToken fills in the form of the sign-in and sends it.
func (b *tab) sendToken(token string) {
	b.t.Helper()
	b.fill("[name=token]", token)
	b.fill("[name=name]", "Ada")
	b.submit("form:has([name=token]) button")
}

// An operator without scripts signs in and out again.
func TestOperatorSignsOut(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := newFixture(t)
	b := newTab(t, chromedp.WithNewBrowserContext())
	b.setScripts(false)
	b.look(views[0])
	b.open(s.operator + "/")
	b.sendToken(operatorToken)
	b.submit("form[action='/sign-out'] button")
	require.EqualValues(t, http.StatusUnauthorized, b.open(s.operator+"/"))
}

// On a phone the editor of the playground has room for a query.
func TestPlaygroundOnAPhone(t *testing.T) {
	nightly(t)
	t.Parallel()
	signIn(t)
	b := newTab(t)
	b.visit(address{ready: ".graphiql-editors"}, newFixture(t).operator+"/playground")
	require.Greater(t, evaluate[float64](b, "document.querySelector('.graphiql-editors').clientWidth"), 250.)
}
