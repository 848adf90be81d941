package main

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"stoa/docs"
	"stoa/graph/graphtest"
)

// metricTypes returns the types of all metrics of a server by name.
func (s *testServer) metricTypes() map[string]string {
	s.t.Helper()
	shown := s.fetch(s.operator + metricsPath)
	require.Equal(s.t, http.StatusOK, shown.status)
	types := make(map[string]string)
	for line := range strings.Lines(string(shown.raw)) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			types[name] = kind
		}
	}
	return types
}

func (s *testServer) hasMetric(line string) bool {
	s.t.Helper()
	return strings.Contains(string(s.fetch(s.operator+metricsPath).raw), "\n"+line+"\n")
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	named    = regexp.MustCompile(`\b(?:stoa|go|process|promhttp)_[a-z0-9_]+\b`)
	suffixes = regexp.MustCompile(`_(?:bucket|sum|count)$`)
)

// metricsIn returns the names of metrics in an expression of Prometheus.
func metricsIn(expression string) []string {
	return named.FindAllString(quoted.ReplaceAllString(expression, ""), -1)
}

// isMetric reports whether a name is one of the metrics, or a part of a histogram or summary.
func isMetric(types map[string]string, name string) bool {
	whole := types[suffixes.ReplaceAllString(name, "")]
	return types[name] != "" || ((whole == "histogram" || whole == "summary") && suffixes.MatchString(name))
}

type alertRules struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			For         string            `yaml:"for"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

// /metrics has the metrics of docs/metrics.md; the alerts, their runbook and the dashboard name no other metrics.
func TestMetricsAlertsAndDashboardAgree(t *testing.T) {
	t.Parallel()
	database := graphtest.NewDatabase(t)
	// Metrics of a replica exist only if a replica is set; here the database itself serves as one.
	s := startServer(t, "STOA_DATABASE_URL="+database, "STOA_DATABASE_REPLICA_URL="+database)
	eventually(t, func() bool { return s.metricTypes()["stoa_ledger_reconciled_timestamp_seconds"] != "" }, "the ledger was not reconciled")
	types := s.metricTypes()
	rows := make(map[string]string)
	for _, found := range regexp.MustCompile("(?m)^\\| `(stoa_\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(docs.Metrics(), -1) {
		rows[found[1]] = found[2]
	}
	ours := maps.Clone(types)
	maps.DeleteFunc(ours, func(name, _ string) bool { return !strings.HasPrefix(name, "stoa_") })
	require.Equal(t, rows, ours)

	var alerts alertRules
	raw := graphtest.Got(os.ReadFile("../../docs/alerts.yml"))(t)
	require.NoError(t, yaml.UnmarshalWithOptions(raw, &alerts, yaml.Strict()))
	var pages []string
	for _, rule := range alerts.Groups[0].Rules {
		pages = append(pages, rule.Alert+".md")
		if rule.Alert != "StoaDown" {
			require.NotEmpty(t, metricsIn(rule.Expr), rule.Alert)
		}
		for _, name := range metricsIn(rule.Expr) {
			require.True(t, isMetric(types, name), "%s names %s", rule.Alert, name)
		}
		require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.Equal(t, rule.Alert+".md", filepath.Base(rule.Annotations["runbook_url"]))
		if rule.For != "" {
			graphtest.OK(t)(time.ParseDuration(rule.For))
		}
		page := readFile(t, "../../docs/runbook/"+rule.Alert+".md")
		for _, part := range []string{"# " + rule.Alert + "\n", "\n## Look\n", "\n## Do\n", "\n## How to see that it is over\n"} {
			require.Contains(t, page, part)
		}
		_, look, _ := strings.Cut(page, "\n## Look\n\n")
		first, _, _ := strings.Cut(look, "\n")
		require.NotContains(t, first, "psql", "%s begins with what needs no access to the database", rule.Alert)
		for _, name := range metricsIn(page) {
			require.True(t, isMetric(types, name) || name == "stoa_sockets_", "%s names %s", rule.Alert, name)
		}
	}
	there := graphtest.Got(filepath.Glob("../../docs/runbook/*.md"))(t)
	for i := range there {
		there[i] = filepath.Base(there[i])
	}
	require.ElementsMatch(t, pages, there, "one page for each alert")

	board := parsed[struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}](t, readFile(t, "../../docs/dashboards/stoa.json"))
	require.NotEmpty(t, board.Panels)
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			for _, name := range metricsIn(target.Expr) {
				require.True(t, isMetric(types, name), "the dashboard names %s", name)
			}
		}
	}
}

func TestProfilesNeedToken(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	answer := func(path, token string) *httpAnswer {
		return s.do(s.request(http.MethodGet, s.operator+path, token, "", nil))
	}
	ask := func(path, token string) int { return answer(path, token).status }
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/trace?seconds=0.01", "/debug/pprof/symbol"} {
		require.Equal(t, http.StatusUnauthorized, ask(path, ""), path)
		require.Equal(t, http.StatusUnauthorized, ask(path, "wrong"), path)
		require.Equal(t, http.StatusOK, ask(path, s.operatorToken()), path)
	}
	require.Equal(t, http.StatusFound, ask("/debug/pprof", s.operatorToken()))
	for _, part := range []string{`<a href="/">`, `content="width=device-width"`, "goroutine"} {
		require.Contains(t, string(answer("/debug/pprof/", s.operatorToken()).raw), part, "the list fits a phone and has a way back")
	}
	require.Equal(t, http.StatusNotFound, s.get(metricsPath).status, "not for the public")
	require.Equal(t, http.StatusNotFound, ask("/debug/pprof/cmdline", s.operatorToken()), "it may hold a password")
}
