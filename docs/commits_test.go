package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules of .ci/commits, one message at a time.
func TestCommitMessages(t *testing.T) {
	t.Parallel()
	const body = "\n\nOtherwise credits are spent twice.\n"
	for message, complaint := range map[string]string{
		"orders: hold escrow on accept" + body:                           "",
		"posts, rest/mcp: need no second query" + body:                   "",
		"client/typescript: pass keys on" + body:                         "",
		"ent/schema, graph.v2, a_b: embed the row" + body:                "",
		"Hold escrow on accept" + body:                                   "must begin with a package",
		"Orders: hold escrow on accept" + body:                           "must begin with a package",
		"orders hold escrow" + body:                                      "must begin with a package",
		"orders:hold escrow" + body:                                      "must begin with a package",
		"orders: holds escrow" + body:                                    "must be imperative",
		"orders: held escrow, fixed fees" + body:                         "",
		"orders: fixed fees" + body:                                      "must be imperative",
		"orders: holding escrow" + body:                                  "must be imperative",
		"orders: the escrow is held" + body:                              "must be imperative",
		"orders: Hold escrow" + body:                                     "must be imperative",
		"orders: wip" + body:                                             "squash it",
		"wip orders: hold" + body:                                        "squash it",
		"WIP" + body:                                                     "squash it",
		"fixup! orders: hold escrow" + body:                              "squash it",
		"squash! orders: hold escrow" + body:                             "squash it",
		"Merge branch 'main'" + body:                                     "squash it",
		"orders: wipe what is old" + body:                                "",
		"orders: hold escrow." + body:                                    "full stop",
		"orders: hold escrow":                                            "the body must say why",
		"orders: hold escrow\n\n \n":                                     "the body must say why",
		"orders: hold escrow\n\nCo-authored-by: Ada <ada@example.org>\n": "the body must say why",
		"orders: hold escrow\nOtherwise credits are spent twice.\n":      "the second line must be empty",
		"orders: hold " + strings.Repeat("e", 87) + body:                 "",
		"orders: hold " + strings.Repeat("e", 88) + body:                 "the subject has 101 characters",
	} {
		check := exec.CommandContext(t.Context(), "../.ci/commits", "--message")
		check.Stdin = strings.NewReader(message)
		out, err := check.CombinedOutput()
		if complaint == "" {
			require.NoError(t, err, "%s\n%s", message, out)
			require.Empty(t, out)
			continue
		}
		require.Error(t, err, message)
		require.Contains(t, string(out), complaint)
	}
}

// A whole branch: the script of a clone names each bad commit, and nothing in a clone without history.
func TestCommitsOfABranch(t *testing.T) {
	t.Parallel()
	if exec.CommandContext(t.Context(), "git", "merge-base", "--is-ancestor", "560dc88", "HEAD").Run() != nil {
		t.Skip("this checkout has no history")
	}
	from, err := filepath.Abs("..")
	require.NoError(t, err)
	clone, shallow, tarball := t.TempDir(), t.TempDir(), t.TempDir()
	git := func(folder string, args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org",
			"-c", "commit.gpgsign=false"}, args...)...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
	}
	check := func(folder string) (string, error) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(folder, ".ci"), 0o700))
		script, err := os.ReadFile("../.ci/commits")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, ".ci/commits"), script, 0o700))
		out, err := exec.CommandContext(t.Context(), filepath.Join(folder, ".ci/commits")).CombinedOutput()
		return string(out), err
	}
	git(".", "clone", "--quiet", "--shared", "--no-checkout", from, clone)
	git(clone, "branch", "begun", "560dc88") // files would only take time: the commits below have none
	git(clone, "symbolic-ref", "HEAD", "refs/heads/begun")
	out, err := check(clone)
	require.NoError(t, err, out)
	git(clone, "commit", "--quiet", "--allow-empty", "-m", "orders: hold escrow on accept", "-m", "Otherwise credits are spent twice.")
	out, err = check(clone)
	require.NoError(t, err, out)
	git(clone, "checkout", "--quiet", "-b", "other")
	git(clone, "commit", "--quiet", "--allow-empty", "-m", "wip")
	git(clone, "checkout", "--quiet", "begun")
	git(clone, "merge", "--quiet", "--no-ff", "-m", "orders: join what is held", "-m", "For the release.", "other")
	out, err = check(clone)
	require.Error(t, err)
	require.Contains(t, out, "merge commits are not allowed")
	require.Contains(t, out, "squash it before it is pushed: wip")
	require.Contains(t, out, "the body must say why")

	git(".", "clone", "--quiet", "--depth", "1", "file://"+clone, shallow)
	for _, folder := range []string{shallow, tarball} {
		out, err := check(folder)
		require.NoError(t, err)
		require.Empty(t, out)
	}
}
