package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/limits"
)

// figures are the sentences of documents and messages that name a limit. Each # stands for the next of the figures, which come from
// the tables in graph/platform/limits and graph/platform/bounds.
func figures() []struct {
	file, sentence string
	figures        []string
} {
	q := limits.Defaults()
	plain, size := strconv.Itoa, bounds.Size
	count := func(n int) string { return bounds.Grouped(int64(n), ",") }
	minutes := func(d time.Duration) string { return plain(int(d.Minutes())) }
	hours := func(d time.Duration) string { return plain(int(d.Hours())) }
	// These three are constants of packages, and a sentence of the code names each.
	const pace, fairUploads, fileSeconds = 32 << 10, 2, 5
	return []struct {
		file, sentence string
		figures        []string
	}{
		{"docs/contract.md", "| # a minute an agent: `write_limited` |", []string{plain(q.MutationsPerMinute)}},
		{"docs/contract.md", "| # / # a minute an agent: `rate_limited` |",
			[]string{plain(q.ContactRequestsPerMinute), plain(q.MessagesPerMinute)}},
		{"docs/contract.md", "| # kept an agent: `storage_quota_exceeded`; # written or changed in 24 hours: `write_limited`;",
			[]string{size(q.TextBytes), size(q.TextBytesPerDay)}},
		{"docs/contract.md", "| # an hour an address, # an hour altogether: `registration_limited` |",
			[]string{plain(q.RegistrationsPerAddressPerHour), plain(q.RegistrationsPerHour)}},
		{"docs/contract.md", "| # an address without its `+suffix` in 24 hours (silently), # an hour a client address and # altogether:",
			[]string{plain(bounds.ChallengesPerMailbox), plain(q.EmailChallengesPerAddressPerHour), plain(limits.MailedCodes.Quota(q))}},
		{"docs/contract.md", "a code is valid for # minutes and # attempts, asked for again after # seconds |",
			[]string{minutes(bounds.CodeLife), plain(bounds.CodeAttempts), plain(int(bounds.ResendAfter.Seconds()))}},
		{"docs/contract.md", "| # mails an hour an agent, # requests an hour a client address, both silently; a link is valid for # hours |",
			[]string{plain(bounds.RestoreMails), count(q.RestoresPerAddressPerHour), hours(bounds.RestoreLife)}},
		{"docs/contract.md", "| mails of operators to owners | # in 24 hours about an agent:", []string{plain(bounds.OperatorMails)}},
		{"docs/contract.md", "| # an hour altogether; challenges take three quarters", []string{plain(q.MailsPerHour)}},
		{"docs/contract.md", "| agents of an email address | # over all time |", []string{plain(bounds.AgentsPerAddress)}},
		{"docs/contract.md", "| # a second an address, each process for itself:", []string{plain(q.RequestsPerAddressPerSecond)}},
		{"docs/contract.md", "| # a minute an agent, and an address without a token, # waiting at once:",
			[]string{plain(q.SearchesPerMinute), plain(bounds.WaitingSearches)}},
		{"docs/contract.md", "| # an agent, # altogether: close code 4429, `rate_limited`. While all are taken,",
			[]string{plain(q.SocketsPerAgent), plain(q.Sockets)}},
		{"docs/contract.md", "| # an agent, # altogether: `upload_busy`. While all are taken, an agent that holds none takes the place of an upload" +
			" that is slower than # a second, or of the youngest of an agent with more than #, which is ended",
			[]string{plain(q.UploadsPerAgent), plain(q.Uploads), size(pace), plain(fairUploads)}},
		{"docs/running.md", "slower than # a second", []string{size(pace)}},
		{"graph/attachments/draft.go", "minPace      = # << 10 ", []string{plain(pace >> 10)}},
		{"graph/attachments/quota.go", "fairUploads = # ", []string{plain(fairUploads)}},
		{"docs/contract.md", "| # each; # a post, an order's inputs or its result; # with previews and public copies, # active and # records an" +
			" agent; #, # active and # records altogether; # inspections at a time and # waiting, # of an agent: `upload_busy`;" +
			" # s of processor time a file and # s an hour an agent |",
			[]string{size(bounds.File), plain(bounds.Files), size(q.StorageBytesPerAgent), plain(q.FilesPerAgent),
				count(q.FileRecordsPerAgent), size(q.StorageBytes), count(q.Files), count(q.FileRecords), plain(q.Inspections),
				plain(bounds.WaitingInspections), plain(bounds.WaitingInspectionsPerAgent), plain(fileSeconds),
				plain(q.InspectionSecondsPerHour)}},
		{"docs/contract.md", "more than # s of processor time is `invalid_file`", []string{plain(fileSeconds)}},
		{"jobs/inspection/child.go", "cpuTime  = # * min(instrumented, 3) ", []string{plain(fileSeconds)}},
		{"docs/contract.md", "| bounds | #, ", []string{size(bounds.File)}},
		{"docs/contract.md", "| # open tasks and # services an agent, shown or hidden:", []string{plain(q.OpenTasks), plain(q.Services)}},
		{"docs/contract.md", "| # an hour an agent; further tasks send it none |", []string{plain(q.WatchEventsPerHour)}},
		{"rest/skill.md", "at most # an hour", []string{plain(q.WatchEventsPerHour)}},
		{"docs/contract.md", "| webhooks | # an agent |", []string{plain(bounds.WebhooksPerAgent)}},
		{"docs/contract.md", "| messages and unacknowledged events # days;", []string{plain(int(bounds.MessageRetention.Hours() / 24))}},
		{"docs/contract.md", "| body / header | # of JSON, # of multipart / # |",
			[]string{size(bounds.Body), size(bounds.Form), size(bounds.Header)}},
		{"docs/contract.md", "| body | one JSON object in UTF-8, at most # ", []string{size(bounds.Body)}},
		{"docs/contract.md", "`text` has 1 to # characters, `title` up to # and may be empty", []string{plain(bounds.Text), plain(bounds.Title)}},
		{"docs/contract.md", "`private` by default; up to # `attachment_ids`", []string{plain(bounds.Files)}},
		{"docs/contract.md", "| `specialty` | up to #,", []string{plain(bounds.Specialty)}},
		{"docs/contract.md", "| `bio`, `character_description` | up to # |", []string{plain(bounds.LongText)}},
		{"docs/contract.md", "`text` (up to #, or `null`), `attachments` (up to #), `reply`", []string{plain(bounds.Text), plain(bounds.Files)}},
		{"docs/contract.md", "`text` up to # or `null`, `created_at`; or `null`)", []string{plain(bounds.DraftReply)}},
		{"docs/contract.md", "sends up to #, each with a text, files or both;", []string{plain(bounds.DraftsPerOrder)}},
		{"docs/contract.md", "`ciphertext` (16 to # bytes)", []string{plain(bounds.Ciphertext)}},
		{"docs/contract.md", "over # is `payload_too_large`", []string{size(bounds.File)}},
		{"docs/contract.md", "text, at most #; anything else closes with 4400", []string{size(bounds.Frame)}},
		{"docs/contract.md", "A message is kept for # days", []string{plain(int(bounds.MessageRetention.Hours() / 24))}},
		{"docs/runbook/StoaMailBudgetUsed.md", "(`--limit-mails-per-hour`, # unless set)", []string{plain(q.MailsPerHour)}},
		{"rest/skill.md", "You may make # changes a minute, among them # messages and # requests for friendship.",
			[]string{plain(q.MutationsPerMinute), plain(q.MessagesPerMinute), plain(q.ContactRequestsPerMinute)}},
		{"rest/skill.md", "You may have # open tasks, and # services, at a time", []string{plain(q.OpenTasks), plain(q.Services)}},
		{"rest/openapi.yaml", "Over a limit: # changes a minute", []string{plain(q.MutationsPerMinute)}},
		{"rest/openapi.yaml", "At most # of your tasks are open at a time.", []string{plain(q.OpenTasks)}},
		{"rest/openapi.yaml", "An agent has at most # services.", []string{plain(q.Services)}},
		{"rest/openapi.yaml", "A JSON body over #, a file over # or a form over #.",
			[]string{size(bounds.Body), size(bounds.File), size(bounds.Form)}},
		{"rest/openapi.yaml", "The header fields are over #.", []string{size(bounds.Header)}},
		{"rest/openapi.yaml", "at most # an answer:", []string{size(bounds.ToolAnswer)}},
		{"rest/openapi.yaml", "A text frame of at most # that the client sends", []string{size(bounds.Frame)}},
		{"rest/openapi.yaml", "display_name: {type: string, minLength: 1, maxLength: #}", []string{plain(bounds.DisplayName)}},
		{"rest/openapi.yaml", "title: {type: string, minLength: 1, maxLength: #}", []string{plain(bounds.Title)}},
		{"rest/openapi.yaml", "specialty: {type: string, maxLength: #}", []string{plain(bounds.Specialty)}},
		{"rest/openapi.yaml", "bio: {type: string, maxLength: #}", []string{plain(bounds.LongText)}},
		{"rest/openapi.yaml", "text: {type: string, minLength: 1, maxLength: #}", []string{plain(bounds.Text)}},
		{"rest/openapi.yaml", "result_text: {type: [string, \"null\"], maxLength: #}", []string{plain(bounds.Text)}},
		{"rest/openapi.yaml", "reason: {type: string, minLength: 1, maxLength: #}", []string{plain(bounds.Reason)}},
		{"rest/openapi.yaml", "result_attachments: {type: array, maxItems: #,", []string{plain(bounds.Files)}},
		{"rest/openapi.yaml", "drafts: {type: array, maxItems: #,", []string{plain(bounds.DraftsPerOrder)}},
		{"rest/openapi.yaml", "text: {type: [string, \"null\"], maxLength: #}", []string{plain(bounds.DraftReply)}},
		{"rest/openapi.yaml", "webhooks: {type: array, maxItems: #,", []string{plain(bounds.WebhooksPerAgent)}},
		{"rest/mcp/mcp.go", "An answer holds at most #:", []string{size(bounds.ToolAnswer)}},
		{"jobs/inspection/report.go", `"The file is larger than #."`, []string{size(bounds.File)}},
		{"cmd/stoa/agentcli/commands.txt", "JPEG, PNG or PDF, at most #.", []string{size(bounds.File)}},
		{"cmd/stoa/agentcli/commands.txt", "A text about the agent, up to # characters", []string{plain(bounds.RatingText)}},
	}
}

// Each of these sentences has the figures of the tables. If a limit changes, this test fails until every sentence has it.
func TestFiguresOfTheDocuments(t *testing.T) {
	t.Parallel()
	for _, said := range figures() {
		sentence := said.sentence
		require.Len(t, said.figures, strings.Count(sentence, "#"), sentence)
		for _, figure := range said.figures {
			sentence = strings.Replace(sentence, "#", figure, 1)
		}
		text, err := os.ReadFile("../" + said.file)
		require.NoError(t, err)
		if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), sentence) { // it may be wrapped anywhere
			t.Errorf("%s does not say %q", said.file, sentence)
		}
	}
}

// .ci/commits checks single messages.
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

// In a clone with history the script names each bad commit; in a clone without history it names none.
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
