package report

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/postgres"
	"stoa/cmd/bench/profile"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/where"
)

func whereSample() *Where {
	send := where.Result{
		Workload:    where.Workload{Name: "messages", Title: "`POST /messages`", Unit: "operation"},
		Connections: 16, Ops: 1000, PerSecond: 2500, Server: 200, Postgres: 300, Objects: 150, Bytes: 12 << 10,
		Processor: profile.Split{
			Layers: []profile.Share{
				{Name: profile.HTTP, Part: 0.5, Of: []profile.Share{{Name: "http.(*conn).serve", Part: 0.4}, {Name: "rare", Part: 0.001}}},
				{Name: profile.Statement, Part: 0.25}, {Name: profile.Logging, Part: 0.001},
			},
			Functions: []profile.Share{{Name: "linux.Syscall6", Part: 0.3, Of: []profile.Share{{Name: profile.HTTP, Part: 0.2}}}},
		},
		AllocatedObjects: map[string]float64{profile.HTTP: 0.2}, AllocatedBytes: map[string]float64{profile.HTTP: 0.5},
		Functions: []postgres.Function{{Name: "hash_search", File: "postgres", Part: 0.6}, {Name: "read", File: "libc.so.6", Part: 0.4}},
		Statements: []postgres.Statement{
			{Text: "SELECT stoa_send($1) || 'x'", Calls: 2, Micros: 500, Rows: 2, Hit: 40, WAL: 900},
			{Text: "INSERT INTO messages", Inner: true, Calls: 1, Micros: 50},
		},
		Changes: postgres.Changes{Bytes: 5000, Images: 2000, Commits: 1, IndexInserts: 3, Indexes: []postgres.Entries{
			{Index: "messages_pkey", Count: 2}, {Index: "messages_sender", Count: 1},
		}},
		Written: postgres.Written{
			Tables: map[string]postgres.Table{
				"messages": {Name: "messages", Inserted: 2000, Updated: 4000, Hot: 1000, Indexes: 4}, "quiet": {Name: "quiet", Inserted: 1},
			},
			Indexes: map[string]postgres.Index{
				"messages_pkey":   {Name: "messages_pkey", Table: "messages", Scans: 7, Needed: true},
				"messages_sender": {Name: "messages_sender", Table: "messages"},
			},
		},
		WrittenOps: 2000,
		Plans:      []postgres.Plan{{Text: strings.Repeat("wide ", 24), Micros: 321, Share: 0.75, Lines: []string{"Result: 300 µs", "trigger t: 9 µs"}}},
	}
	mix := send
	mix.Children = 2
	mix.Workload = where.Workload{Name: "mix", Title: "the mix", Unit: "request"}
	upload := where.Result{Workload: where.Workload{Name: "upload", Title: "an upload", Unit: "upload"}, Server: 100, Children: 5000, WrittenOps: 1}
	return &Where{
		Date: time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC), Took: 5 * time.Minute, Commit: "stoa v1", Postgres: "15",
		Machine: machine.Description{Processor: "P", Cores: 2}, Mix: scenarios.DescribeMix(), Agents: 20_000, Posts: 40_000,
		Results: []where.Result{send, upload, mix},
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, whereSample().Chapter(&b))
	for _, want := range []string{
		"| `POST /messages` | 16 | 2,500 | 200 | 300 | 150 | 12 | 2 | 1 | 1 | 3 | 25 % | 3,000 | 2,000 |",
		"| HTTP | 100 | 0 | 100 |",
		"| HTTP | 100 | 50.0 % | 30 | 6,144 | `http.(*conn).serve` 80 |",
		"| `linux.Syscall6` | 60 | 30.0 % | HTTP 40 |",
		"| `hash_search` | `postgres` | 180 | 60.0 % |",
		"| `libc.so.6` | 120 | 40.0 % |",
		"| `SELECT stoa_send($1) \\|\\| 'x'` | 2 | 500 | 250 | 1 | 20 | 0 | 0 | 900 |",
		"| ↳ `INSERT INTO messages` | 1 | 50 |",
		"| `messages` | 1 | 2 | 0 | 25 % | 4 | 3 | `messages_pkey` 2, `messages_sender` 1 |",
		"| `messages_sender` | `messages` | 1 |  |  |",
		"321 µs; 75 % of the time of all that were logged",
		"trigger t: 9 µs",
		"that inspect files take 5.0 ms more of an upload",
		"`rest/bind.go`",
	} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), "| `quiet`", "too little")
	require.NotContains(t, b.String(), "| logging |  ", "too little")
	require.NotContains(t, b.String(), "NaN")
	quoted := false
	for line := range strings.SplitSeq(b.String(), "\n") {
		if strings.HasPrefix(line, "```") {
			quoted = !quoted
		}
		if !quoted && !strings.HasPrefix(line, "|") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 130, line)
		}
	}
	require.False(t, quoted)
}

// The chapter replaces its predecessor and leaves all else on the page alone.
func TestWhereOnItsPage(t *testing.T) {
	t.Parallel()
	w := whereSample()
	first, err := w.On("# Page\n\nText.\n")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(first, "# Page\n\nText.\n\n"+chapterBegin))
	again, err := w.On(first + "\nBehind.\n")
	require.NoError(t, err)
	require.Equal(t, first+"\nBehind.\n", again)
	_, err = w.On("# Page\n" + chapterBegin + "text\n")
	require.ErrorContains(t, err, "no end")
}

func TestEmptyWhere(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, new(Where).Chapter(&b))
	require.Contains(t, b.String(), "There are none.")
}
