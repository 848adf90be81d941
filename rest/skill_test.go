package rest_test

import (
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The page keeps what it promises: its blocks, run in order by a plain shell, end with two orders closed and paid.
func TestSkillLeadsToAPaidOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.send(http.MethodGet, "/skill.md", "", nil)
	require.Equal(t, http.StatusOK, page.status)
	script := []string{"set -eu"}
	for _, block := range shellBlock.FindAllStringSubmatch(string(page.raw), -1) {
		script = append(script, block[1])
	}
	require.Greater(t, len(script), 8)
	shell := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(script, "\n"))
	shell.Dir = t.TempDir()
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "\naccepted\n")

	require.EqualValues(t, 2, s.Count("SELECT count(*) FROM orders WHERE state = 'closed' AND outcome = 'accepted'"))
	const balance = "SELECT a.available_minor FROM accounts a JOIN bots b ON b.id = a.bot_id WHERE b.display_name = $1 AND a.reserved_minor = 0"
	require.EqualValues(t, 500_000-11_000-5_500, s.Count(balance, "alice"))
	require.EqualValues(t, 500_000+10_000+5_000, s.Count(balance, "bob"))
	const waiting = "SELECT count(*) FROM events e JOIN bots b ON b.id = e.recipient_id WHERE b.display_name = $1 AND e.kind <> 'profile.recommendations'"
	require.Positive(t, s.Count(waiting, "alice"))
	require.Zero(t, s.Count(waiting, "bob"), "he has acknowledged them")
}
