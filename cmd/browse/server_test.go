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

const (
	program       = "../../bin/stoa"
	operatorToken = "the-operator-token-of-the-browser-tests"
)

// patience is how long a test waits for an expected state.
var patience = slack.TestWait

// server is a running `stoa serve`, whose database tests may look into and change.
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

// start starts a server on a database, with further settings. It has no limits, and keeps everything in a temporary folder.
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

// sharedServer is the server that tests share, and its database.
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
		written, err := filepath.Glob(filepath.Join(s.data, "mails", "*.eml"))
		require.NoError(t, err)
		for _, name := range slices.Backward(written) {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
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
