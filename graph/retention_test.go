package graph_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/operator"
)

var rewrite = flag.Bool("write", false, "write docs/retention.md anew instead of comparing it")

const document = "../docs/retention.md"

// retentionPage is the document.
func retentionPage(all []operator.Retention) string {
	var b strings.Builder
	b.WriteString("# What is kept for how long\n\n" +
		"Generated from the table in `graph/retention.go`; operators read it as `retention` over GraphQL. The job `cleanup` runs every five\n" +
		"minutes, `orphans` and `backup` every hour (`jobs/table.go`).\n\n" +
		"| name | what | how long | job |\n| --- | --- | --- | --- |\n")
	for _, r := range all {
		job := ""
		if r.Job != "" {
			job = "`" + r.Job + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, r.What, span(&r), job)
	}
	return b.String()
}

// span returns a duration in words.
func span(r *operator.Retention) string {
	days := r.Days()
	switch {
	case days == nil:
		return "for ever"
	case *days == 0:
		return "until the job runs next"
	case *days == 1:
		return "1 day"
	case *days != math.Trunc(*days):
		return strings.Replace(strings.TrimSuffix(r.Kept.String(), "0s"), "h0m", "h", 1)
	default:
		return fmt.Sprintf("%.0f days", *days)
	}
}

func TestRetentionDocumentMatchesTable(t *testing.T) {
	t.Parallel()
	page := retentionPage(graphtest.New(t).Operator.Kept)
	if *rewrite {
		require.NoError(t, os.WriteFile(document, []byte(page), 0o644))
	}
	got := graphtest.Got(os.ReadFile(document))(t)
	require.Equal(t, page, string(got), "run: go test ./graph -run Retention -write")
}

// Every row either is kept for ever and has no job that deletes it, or has such a job.
func TestRetentionTableIsConsistent(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range graphtest.New(t).Operator.Kept {
		require.False(t, seen[r.Name], r.Name)
		seen[r.Name] = true
		require.NotEmpty(t, r.What, r.Name)
		require.Equal(t, r.Kept == operator.Forever, r.Job == "", r.Name)
		require.True(t, r.Sweep == nil || r.Job == "cleanup", r.Name)
	}
}
