package metrics_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/metrics"
)

var rewrite = flag.Bool("write", false, "write docs/metrics.md anew instead of comparing it")

const document = "../../../docs/metrics.md"

// page is the document.
func page() string {
	var b strings.Builder
	b.WriteString(`# Metrics

What ` + "`/metrics`" + ` on the operator listener shows, generated from the rows in ` + "`graph/platform/metrics`" + `. It needs no token; keep the listener private.
Counters and histograms are of one process since it began: sum over the processes. What is read from the database is the same on every
process: take the maximum. It is read at most every 5 s, in at most 2 s; while the database is away those rows are missing and
` + "`stoa_database_probe_failed`" + ` is 1. [alerts.yml](alerts.yml) and [the dashboard](dashboards/stoa.json) use these names.

A job for Prometheus, which the alerts expect under this name:

` + "```yaml" + `
scrape_configs:
  - job_name: stoa
    static_configs: [{targets: ["127.0.0.1:8081"]}]
rule_files: [alerts.yml]
` + "```" + `
`)
	for _, domain := range metrics.Domains() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n", domain.Name, domain.About)
		for _, row := range domain.Rows {
			labels := ""
			if len(row.Labels) > 0 {
				labels = "`" + strings.Join(row.Labels, "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", row.Name, row.Kind, labels, row.Help)
		}
	}
	return b.String()
}

// The document says what the rows say.
func TestDocumentIsTheRows(t *testing.T) {
	t.Parallel()
	if *rewrite {
		require.NoError(t, os.WriteFile(document, []byte(page()), 0o644))
	}
	got, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, page(), string(got), "run: go test ./graph/platform/metrics -run Document -write")
}
