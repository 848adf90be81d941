package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Plan is how PostgreSQL ran one statement.
type Plan struct {
	Text string
	// Micros is the time of this call, that of the median of all that were logged. Share is the part that the statement has of the
	// time of all logged ones.
	Micros, Share float64
	// Lines are the nodes of the plan, and triggers.
	Lines []string
}

// Percent is Share in percent.
func (p Plan) Percent() float64 { return 100 * p.Share }

// planSettings have plans logged with what happened in each node, for a part of all calls that follows.
var planSettings = []string{"log_min_duration = 0", "log_analyze = on", "log_buffers = on", "log_triggers = on", "log_format = json",
	"log_nested_statements = on", "sample_rate = "}

// LogPlans switches the log of plans on for a part of all calls, from 0 to 1.
func LogPlans(ctx context.Context, db *sql.DB, part float64) error {
	for _, setting := range planSettings {
		if strings.HasSuffix(setting, "= ") {
			setting += strconv.FormatFloat(part, 'f', 6, 64)
		}
		if _, err := db.ExecContext(ctx, "ALTER SYSTEM SET auto_explain."+setting); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "SELECT pg_reload_conf()")
	return err
}

// StopPlans switches the log of plans off.
func StopPlans(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "ALTER SYSTEM SET auto_explain.log_min_duration = -1")
	if err == nil {
		_, err = db.ExecContext(ctx, "SELECT pg_reload_conf()")
	}
	return err
}

// logged is an entry of auto_explain about a call.
type logged struct {
	Query    string `json:"Query Text"`
	Plan     node   `json:"Plan"`
	Triggers []struct {
		Name       string  `json:"Trigger Name"`
		Constraint string  `json:"Constraint Name"`
		Time       float64 `json:"Time"`
		Calls      float64 `json:"Calls"`
	} `json:"Triggers"`
	micros float64
}

// node is a node of a plan.
type node struct {
	Type     string  `json:"Node Type"`
	Kind     string  `json:"Operation"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Function string  `json:"Function Name"`
	Name     string  `json:"Subplan Name"`
	Total    float64 `json:"Actual Total Time"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Hit      float64 `json:"Shared Hit Blocks"`
	Read     float64 `json:"Shared Read Blocks"`
	Dirtied  float64 `json:"Shared Dirtied Blocks"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Plans    []node  `json:"Plans"`
}

// entry is the beginning of a plan in the log.
var entry = regexp.MustCompile(`LOG:  duration: ([0-9.]+) ms  plan:\n`)

// Slowest reads a log from an offset on and returns the plans of the statements that took most time altogether.
func Slowest(log string, offset int64, most int) ([]Plan, error) {
	raw, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	if offset > int64(len(raw)) { // it was emptied meanwhile
		offset = 0
	}
	calls := parseLog(string(raw[offset:]))
	if len(calls) == 0 {
		return nil, errors.New("postgres: no plan was logged")
	}
	byText, sums, total := make(map[string][]logged), make(map[string]float64), 0.0
	for _, call := range calls {
		byText[call.Query] = append(byText[call.Query], call)
		sums[call.Query] += call.micros
		total += call.micros
	}
	texts := make([]string, 0, len(sums))
	for text := range sums {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	var plans []Plan
	for _, text := range texts[:min(most, len(texts))] {
		same := byText[text]
		slices.SortFunc(same, func(a, b logged) int { return cmp.Compare(a.micros, b.micros) })
		median := same[len(same)/2]
		plans = append(plans, Plan{Text: Brief(text), Micros: median.micros, Share: sums[text] / total, Lines: median.lines()})
	}
	return plans, nil
}

// parseLog returns the whole plans of a log. Each follows its duration, in lines that begin with a tab.
func parseLog(log string) (calls []logged) {
	for _, at := range entry.FindAllStringSubmatchIndex(log, -1) {
		var plan strings.Builder
		for line := range strings.Lines(log[at[1]:]) {
			rest, continued := strings.CutPrefix(line, "\t")
			if !continued {
				break
			}
			plan.WriteString(rest)
		}
		var call logged
		milliseconds, err := strconv.ParseFloat(log[at[2]:at[3]], 64)
		if err != nil || json.Unmarshal([]byte(plan.String()), &call) != nil {
			continue // the log was cut here
		}
		call.micros = 1000 * milliseconds
		calls = append(calls, call)
	}
	return calls
}

func (l logged) lines() []string {
	lines := l.Plan.lines(nil, 0)
	for _, t := range l.Triggers {
		lines = append(lines, fmt.Sprintf("trigger %s: %.0f µs, calls %.0f", cmp.Or(t.Constraint, t.Name), 1000*t.Time, t.Calls))
	}
	return lines
}

// lines appends a node and those below it. Times are those of all loops.
func (n node) lines(lines []string, depth int) []string {
	lines = append(lines, strings.Repeat("  ", depth)+n.title()+": "+n.figures())
	for _, child := range n.Plans {
		lines = child.lines(lines, depth+1)
	}
	return lines
}

// title says what the node does to what.
func (n node) title() string {
	title := []string{n.Type}
	if n.Type == "ModifyTable" {
		title[0] = n.Kind
	}
	for _, part := range []struct{ word, name string }{{"by", n.Index}, {"on", n.Relation}, {"on", n.Function}, {"of", n.Name}} {
		if part.name != "" {
			title = append(title, part.word, part.name)
		}
	}
	return strings.Join(title, " ")
}

// figures says what the node cost.
func (n node) figures() string {
	if n.Loops == 0 {
		return "never run"
	}
	figures := []string{fmt.Sprintf("%.0f µs, rows %.0f", 1000*n.Total*n.Loops, n.Rows*n.Loops)}
	for _, figure := range []struct {
		what         string
		value, least float64
	}{{"hit", n.Hit, 1}, {"read", n.Read, 1}, {"dirtied", n.Dirtied, 1}, {"filtered", n.Filtered * n.Loops, 1}, {"loops", n.Loops, 2}} {
		if figure.value >= figure.least {
			figures = append(figures, fmt.Sprintf("%s %.0f", figure.what, figure.value))
		}
	}
	return strings.Join(figures, ", ")
}
