//go:build browse

package browse_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/child"
	"stoa/cmd/letter"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
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

const (
	program       = "../../bin/stoa"
	operatorToken = "the-operator-token-of-the-browser-tests"
)

// patience is how long a test waits for an expected state.
var patience = slack.TestWait

// server is a running `stoa serve`, whose database tests may read and change.
type server struct {
	// public and operator are the origins of its listeners.
	public, operator string

	process *child.Process
	data    string
}

// errorLog passes on the errors that a server logs.
type errorLog struct{}

// Write implements io.Writer; it gets whole lines.
func (errorLog) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"level":"ERROR"`)) {
		_, _ = os.Stderr.Write(line)
	}
	return len(line), nil
}

// start starts a server on a database, with further settings. The server has no limits, and keeps its data in a temporary folder.
func start(database string, settings ...string) (s *server, err error) {
	s = new(server)
	if s.data, err = os.MkdirTemp("", "stoa-browse-"); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.Background(), path, "serve")
	command.Dir = s.data
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "STOA_") && !strings.HasPrefix(v, slack.Variable+"=")
	})
	command.Env = append(command.Env,
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_DATA_DIR="+s.data, "STOA_DATABASE_URL="+database,
		"STOA_OPERATOR_TOKEN="+operatorToken, "STOA_SMTP_URL=file:mails", "STOA_MAIL_FROM=stoa@stoa.example",
		"STOA_LIMIT_MUTATIONS_PER_MINUTE=0", "STOA_LIMIT_REGISTRATIONS_PER_ADDRESS_PER_HOUR=0", "STOA_LIMIT_REGISTRATIONS_PER_HOUR=0",
		"STOA_LIMIT_REQUESTS_PER_ADDRESS_PER_SECOND=0", "STOA_LIMIT_CONTACT_REQUESTS_PER_MINUTE=0",
		"STOA_LIMIT_SEARCHES_PER_MINUTE=0", "STOA_LIMIT_EMAIL_CHALLENGES_PER_ADDRESS_PER_HOUR=0", "STOA_LIMIT_MAILS_PER_HOUR=0",
	)
	command.Env = append(command.Env, settings...)
	s.process, err = child.Start(context.Background(), command, errorLog{}, func(line []byte) bool {
		public, operator, ok := child.Serving(line)
		s.public, s.operator = "http://"+public, "http://"+operator
		return ok
	})
	return s, err
}

func (s *server) stop() {
	s.process.Stop()
	_ = os.RemoveAll(s.data) // it is temporary
}

var (
	serving    *server
	startOnce  sync.Once
	errStarted error
)

// sharedServer returns the server that tests share, and its database.
func sharedServer(t *testing.T) (*server, *graphtest.World) {
	t.Helper()
	w := shared.World(t)
	startOnce.Do(func() { serving, errStarted = start(w.URL) })
	require.NoError(t, errStarted)
	return serving, w
}

func stopServer() {
	if serving != nil && errStarted == nil {
		serving.stop()
	}
}

// mail waits for the newest mail that names a text and whose link begins with a path.
func (s *server) mail(t *testing.T, path, names string) (found *letter.Letter) {
	t.Helper()
	require.Eventually(t, func() bool {
		written := graphtest.Got(filepath.Glob(filepath.Join(s.data, "mails", "*.eml")))(t)
		for _, name := range slices.Backward(written) {
			raw := graphtest.Got(os.ReadFile(name))(t)
			read, err := letter.Read(bytes.NewReader(raw))
			if err == nil && strings.HasPrefix(read.Link, s.public+path) && bytes.Contains(raw, []byte(names)) {
				found = read
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond, "no mail with a link to %s and %q", path, names)
	return found
}
