//go:build browse

package browse_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waits waits until a script returns true.
func (b *tab) waits(script string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return evaluate[bool](b, script) }, patience, 50*time.Millisecond, script)
}

// A list updates itself without being loaded again, except a part in which the operator fills in a form; its button stops it.
func TestAListRefreshesItself(t *testing.T) {
	nightly(t)
	t.Parallel()
	signIn(t)
	s := newFixture(t)
	b := newTab(t)
	b.look(views[3])
	invite := func(note string) {
		s.world.Exec("INSERT INTO invitations (id, created_at, code_hash, uses, note) VALUES (gen_random_uuid(), stoa_now(), sha256($1::text::bytea), 1, $1)", note)
	}
	shows := func(note string) string {
		return "document.getElementById('rows').textContent.includes('" + note + "')"
	}
	invite("before")
	b.open(s.operator + "/invitations?q=")
	b.waits("!document.getElementById('live').hidden")
	evaluate[bool](b, "window.kept = true")
	b.waits(shows("before"))
	invite("the first")
	b.waits(shows("the first"))
	require.True(t, evaluate[bool](b, "window.kept"), "the page is the same")

	evaluate[bool](b, `(() => {
		const form = document.createElement("form"), field = document.createElement("input");
		field.name = field.id = "typed";
		field.ariaLabel = "Typed";
		form.append(field);
		document.getElementById("rows").append(form);
		field.focus();
		window.asked = performance.getEntriesByType("resource").length;
		return true;
	})()`)
	invite("the second")
	b.waits("performance.getEntriesByType('resource').length > window.asked")
	b.waits("document.activeElement.tagName === 'INPUT'")
	require.False(t, evaluate[bool](b, shows("the second")), "the operator writes")
	evaluate[bool](b, "document.activeElement.blur() || true")
	b.waits(shows("the second"))

	evaluate[bool](b, "document.getElementById('live').click() || true")
	require.Equal(t, "Refresh by itself", evaluate[string](b, "document.getElementById('live').textContent"))
	invite("the third")
	evaluate[bool](b, "document.getElementById('live').click() || true")
	b.waits(shows("the third") + " || (document.dispatchEvent(new Event('visibilitychange')), false)")

	for answer, notice := range map[string]string{
		"new Response('', { status: 401 })": "^You are signed out.$", "new Response('', { status: 503 })": `^Not renewed since \\d\\d:\\d\\d.$`,
	} {
		evaluate[bool](b, "(window.answered ??= window.fetch, window.fetch = async () => "+answer+", document.dispatchEvent(new Event('visibilitychange')))")
		b.waits("new RegExp('" + notice + "').test(document.querySelector('.live + .wrong').textContent)")
	}
	evaluate[bool](b, "(window.fetch = window.answered, document.dispatchEvent(new Event('visibilitychange')))")
	b.waits("document.querySelector('.live + .wrong').textContent === ''")
	require.Empty(t, b.takeComplaints())
}
