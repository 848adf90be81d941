package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plan is an entry of the log as auto_explain writes it.
func plan(duration, query string) string {
	text := `{
  "Query Text": "` + query + `",
  "Plan": {
    "Node Type": "ModifyTable", "Operation": "Insert", "Relation Name": "messages",
    "Actual Total Time": 0.5, "Actual Rows": 0, "Actual Loops": 1, "Shared Hit Blocks": 12, "Shared Dirtied Blocks": 2,
    "Plans": [
      {"Node Type": "Index Scan", "Index Name": "bots_pkey", "Relation Name": "bots", "Actual Total Time": 0.01, "Actual Rows": 1,
       "Actual Loops": 3, "Shared Hit Blocks": 9, "Rows Removed by Filter": 2},
      {"Node Type": "Seq Scan", "Relation Name": "orders", "Actual Total Time": 0, "Actual Rows": 0, "Actual Loops": 0}
    ]
  },
  "Triggers": [{"Trigger Name": "posts_feed", "Time": 0.12, "Calls": 2},
    {"Trigger Name": "RI_ConstraintTrigger_c_1", "Constraint Name": "messages_contact_id_fkey", "Time": 0.03, "Calls": 1}]
}`
	return "2026-11-26 17:00:00 UTC [7] stoa LOG:  duration: " + duration + " ms  plan:\n\t" + strings.ReplaceAll(text, "\n", "\n\t") + "\n"
}

func TestSlowestPlans(t *testing.T) {
	t.Parallel()
	before := plan("99.000", "an earlier statement")
	log := filepath.Join(t.TempDir(), "log")
	cut := plan("50.000", "a plan that is cut off")
	require.NoError(t, os.WriteFile(log, []byte(before+plan("0.300", "SELECT 1")+plan("1.000", "INSERT")+"other lines\n"+
		plan("3.000", "INSERT")+plan("2.000", "INSERT")+cut[:len(cut)/2]), 0o600))
	plans, err := Slowest(log, int64(len(before)), 5)
	require.NoError(t, err)
	require.Len(t, plans, 2)
	require.Equal(t, "INSERT", plans[0].Text)
	require.InDelta(t, 2000, plans[0].Micros, 1e-6, "the median call")
	require.InDelta(t, 6.0/6.3, plans[0].Share, 1e-9)
	require.Equal(t, []string{
		"Insert on messages: 500 µs, rows 0, hit 12, dirtied 2",
		"  Index Scan by bots_pkey on bots: 30 µs, rows 3, hit 9, filtered 6, loops 3",
		"  Seq Scan on orders: never run",
		"trigger posts_feed: 120 µs, calls 2",
		"trigger messages_contact_id_fkey: 30 µs, calls 1",
	}, plans[0].Lines)

	plans, err = Slowest(log, 1<<40, 1)
	require.NoError(t, err, "a log that was emptied is read from its start")
	require.Equal(t, "an earlier statement", plans[0].Text)
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	_, err = Slowest(log, 0, 1)
	require.Error(t, err)
}

func TestBrief(t *testing.T) {
	t.Parallel()
	require.Equal(t, "SELECT a FROM b", Brief("SELECT a -- the first\n  FROM\tb"))
	long := Brief("SELECT " + strings.Repeat("column, ", 40) + "last FROM tokens t WHERE t.hash = $1 AND " + strings.Repeat("more ", 40))
	require.True(t, strings.HasPrefix(long, "SELECT column, column"))
	require.Contains(t, long, "… FROM tokens t WHERE t.hash = $1")
	require.LessOrEqual(t, len([]rune(long)), briefLength)
}

func TestSince(t *testing.T) {
	t.Parallel()
	before := Written{Tables: map[string]Table{"a": {Name: "a", Inserted: 1, Updated: 2, Hot: 1}}, Indexes: map[string]Index{"i": {Scans: 4}}}
	after := Written{
		Tables:  map[string]Table{"a": {Name: "a", Inserted: 4, Updated: 9, Hot: 6, Indexes: 2}, "b": {Name: "b", Deleted: 3}},
		Indexes: map[string]Index{"i": {Scans: 5}},
	}
	since := after.Since(before)
	require.Equal(t, Table{Name: "a", Inserted: 3, Updated: 7, Hot: 5, Indexes: 2}, since.Tables["a"])
	require.InDelta(t, 3, since.Tables["b"].Deleted, 0)
	require.InDelta(t, 1, since.Indexes["i"].Scans, 0)
}
