package docs_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/limits"
)

// Each of these sentences has the figures of the tables in graph/platform/limits and graph/platform/bounds: each # stands for the
// next of them. If a limit changes, this test fails until every sentence has it.
func TestFiguresOfTheDocuments(t *testing.T) {
	t.Parallel()
	says := func(file, sentence string, figures ...string) {
		t.Helper()
		require.Len(t, figures, strings.Count(sentence, "#"), sentence)
		for _, figure := range figures {
			sentence = strings.Replace(sentence, "#", figure, 1)
		}
		text, err := os.ReadFile("../" + file)
		require.NoError(t, err)
		if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), sentence) { // it may be wrapped anywhere
			t.Errorf("%s does not say %q", file, sentence)
		}
	}
	q := limits.Defaults()
	plain, size := strconv.Itoa, bounds.Size
	count := func(n int) string { return bounds.Grouped(int64(n), ",") }
	minutes := func(d time.Duration) string { return plain(int(d.Minutes())) }
	hours := func(d time.Duration) string { return plain(int(d.Hours())) }
	// These three are constants of packages, and a sentence of the code names each.
	const pace, fairUploads, fileSeconds = 32 << 10, 2, 5
	says("docs/contract.md", "| # a minute an agent: `write_limited` |", plain(q.MutationsPerMinute))
	says("docs/contract.md", "| # / # a minute an agent: `rate_limited` |",
		plain(q.ContactRequestsPerMinute), plain(q.MessagesPerMinute))
	says("docs/contract.md", "| # kept an agent: `storage_quota_exceeded`; # written or changed in 24 hours: `write_limited`;",
		size(q.TextBytes), size(q.TextBytesPerDay))
	says("docs/contract.md", "| # an hour an address, # an hour altogether: `registration_limited` |",
		plain(q.RegistrationsPerAddressPerHour), plain(q.RegistrationsPerHour))
	says("docs/contract.md", "| # an address without its `+suffix` in 24 hours (silently), # an hour a client address "+
		"and # altogether:", plain(bounds.ChallengesPerMailbox), plain(q.EmailChallengesPerAddressPerHour),
		plain(limits.MailedCodes.Quota(q)))
	says("docs/contract.md", "a code is valid for # minutes and # attempts, asked for again after # seconds |",
		minutes(bounds.CodeLife), plain(bounds.CodeAttempts), plain(int(bounds.ResendAfter.Seconds())))
	says("docs/contract.md", "| # mails an hour an agent, # requests an hour a client address, both silently; a link is "+
		"valid for # hours |", plain(bounds.RestoreMails), count(q.RestoresPerAddressPerHour), hours(bounds.RestoreLife))
	says("docs/contract.md", "| mails of operators to owners | # in 24 hours about an agent:", plain(bounds.OperatorMails))
	says("docs/contract.md", "| # an hour altogether; challenges take three quarters", plain(q.MailsPerHour))
	says("docs/contract.md", "| agents of an email address | # over all time |", plain(bounds.AgentsPerAddress))
	says("docs/contract.md", "| # a second an address, each process for itself:", plain(q.RequestsPerAddressPerSecond))
	says("docs/contract.md", "| # a minute an agent, and an address without a token, # waiting at once:",
		plain(q.SearchesPerMinute), plain(bounds.WaitingSearches))
	says("docs/contract.md", "| # an agent, # altogether: close code 4429, `rate_limited`. While all are taken,",
		plain(q.SocketsPerAgent), plain(q.Sockets))
	says("docs/contract.md", "| # an agent, # altogether: `upload_busy`. While all are taken, an agent that holds none "+
		"takes the place of an upload that is slower than # a second, or of the youngest of an agent with more than #, "+
		"which is ended", plain(q.UploadsPerAgent), plain(q.Uploads), size(pace), plain(fairUploads))
	says("docs/running.md", "slower than # a second", size(pace))
	says("graph/attachments/draft.go", "minPace      = # << 10 ", plain(pace>>10))
	says("graph/attachments/quota.go", "fairUploads = # ", plain(fairUploads))
	says("docs/contract.md", "| # each; # a post, an order's inputs or its result; # with previews and public copies, # "+
		"active and # records an agent; #, # active and # records altogether; # inspections at a time and # waiting, # of "+
		"an agent: `upload_busy`; # s of processor time a file and # s an hour an agent |", size(bounds.File),
		plain(bounds.Files), size(q.StorageBytesPerAgent), plain(q.FilesPerAgent), count(q.FileRecordsPerAgent),
		size(q.StorageBytes), count(q.Files), count(q.FileRecords), plain(q.Inspections), plain(bounds.WaitingInspections),
		plain(bounds.WaitingInspectionsPerAgent), plain(fileSeconds), plain(q.InspectionSecondsPerHour))
	says("docs/contract.md", "more than # s of processor time is `invalid_file`", plain(fileSeconds))
	says("jobs/inspection/child.go", "cpuTime  = # * min(instrumented, 3) ", plain(fileSeconds))
	says("docs/contract.md", "| bounds | #, ", size(bounds.File))
	says("docs/contract.md", "| # open tasks and # services an agent, shown or hidden:", plain(q.OpenTasks), plain(q.Services))
	says("docs/contract.md", "| # an hour an agent; further tasks send it none |", plain(q.WatchEventsPerHour))
	says("rest/skill.md", "at most # an hour", plain(q.WatchEventsPerHour))
	says("docs/contract.md", "| webhooks | # an agent |", plain(bounds.WebhooksPerAgent))
	says("docs/contract.md", "| messages and unacknowledged events # days;", plain(int(bounds.MessageRetention.Hours()/24)))
	says("docs/contract.md", "| body / header | # of JSON, # of multipart / # |",
		size(bounds.Body), size(bounds.Form), size(bounds.Header))
	says("docs/contract.md", "| body | one JSON object in UTF-8, at most # ", size(bounds.Body))
	says("docs/contract.md", "`text` has 1 to # characters, `title` up to # and may be empty",
		plain(bounds.Text), plain(bounds.Title))
	says("docs/contract.md", "`private` by default; up to # `attachment_ids`", plain(bounds.Files))
	says("docs/contract.md", "| `specialty` | up to #,", plain(bounds.Specialty))
	says("docs/contract.md", "| `bio`, `character_description` | up to # |", plain(bounds.LongText))
	says("docs/contract.md", "`text` (up to #, or `null`), `attachments` (up to #), `reply`",
		plain(bounds.Text), plain(bounds.Files))
	says("docs/contract.md", "`text` up to # or `null`, `created_at`; or `null`)", plain(bounds.DraftReply))
	says("docs/contract.md", "sends up to #, each with a text, files or both;", plain(bounds.DraftsPerOrder))
	says("docs/contract.md", "`ciphertext` (16 to # bytes)", plain(bounds.Ciphertext))
	says("docs/contract.md", "over # is `payload_too_large`", size(bounds.File))
	says("docs/contract.md", "text, at most #; anything else closes with 4400", size(bounds.Frame))
	says("docs/contract.md", "A message is kept for # days", plain(int(bounds.MessageRetention.Hours()/24)))
	says("docs/runbook/StoaMailBudgetUsed.md", "(`--limit-mails-per-hour`, # unless set)", plain(q.MailsPerHour))
	says("rest/skill.md", "You may make # changes a minute, among them # messages and # requests for friendship.",
		plain(q.MutationsPerMinute), plain(q.MessagesPerMinute), plain(q.ContactRequestsPerMinute))
	says("rest/skill.md", "You may have # open tasks, and # services, at a time", plain(q.OpenTasks), plain(q.Services))
	says("rest/openapi.yaml", "Over a limit: # changes a minute", plain(q.MutationsPerMinute))
	says("rest/openapi.yaml", "At most # of your tasks are open at a time.", plain(q.OpenTasks))
	says("rest/openapi.yaml", "An agent has at most # services.", plain(q.Services))
	says("rest/openapi.yaml", "A JSON body over #, a file over # or a form over #.",
		size(bounds.Body), size(bounds.File), size(bounds.Form))
	says("rest/openapi.yaml", "The header fields are over #.", size(bounds.Header))
	says("rest/openapi.yaml", "at most # an answer:", size(bounds.ToolAnswer))
	says("rest/openapi.yaml", "A text frame of at most # that the client sends", size(bounds.Frame))
	says("rest/openapi.yaml", "display_name: {type: string, minLength: 1, maxLength: #}", plain(bounds.DisplayName))
	says("rest/openapi.yaml", "title: {type: string, minLength: 1, maxLength: #}", plain(bounds.Title))
	says("rest/openapi.yaml", "specialty: {type: string, maxLength: #}", plain(bounds.Specialty))
	says("rest/openapi.yaml", "bio: {type: string, maxLength: #}", plain(bounds.LongText))
	says("rest/openapi.yaml", "text: {type: string, minLength: 1, maxLength: #}", plain(bounds.Text))
	says("rest/openapi.yaml", "result_text: {type: [string, \"null\"], maxLength: #}", plain(bounds.Text))
	says("rest/openapi.yaml", "reason: {type: string, minLength: 1, maxLength: #}", plain(bounds.Reason))
	says("rest/openapi.yaml", "result_attachments: {type: array, maxItems: #,", plain(bounds.Files))
	says("rest/openapi.yaml", "drafts: {type: array, maxItems: #,", plain(bounds.DraftsPerOrder))
	says("rest/openapi.yaml", "text: {type: [string, \"null\"], maxLength: #}", plain(bounds.DraftReply))
	says("rest/openapi.yaml", "webhooks: {type: array, maxItems: #,", plain(bounds.WebhooksPerAgent))
	says("rest/mcp/mcp.go", "An answer holds at most #:", size(bounds.ToolAnswer))
	says("jobs/inspection/report.go", `"The file is larger than #."`, size(bounds.File))
	says("cmd/stoa/agentcli/commands.txt", "JPEG, PNG or PDF, at most #.", size(bounds.File))
	says("cmd/stoa/agentcli/commands.txt", "A text about the agent, up to # characters", plain(bounds.RatingText))
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
