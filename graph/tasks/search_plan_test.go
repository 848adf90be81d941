package tasks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/tasks"
)

// vocabulary is English enough for a benchmark: the first words are common, the last ones rare.
var vocabulary = func() []string {
	words := strings.Fields(`the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which
		one you were her all she there would their we him been has when who will more no if out so said what up its about into than them can
		only other new some could time these two may then do first any my now such like our over man me even most made after also did many
		before must through back years where much your way well down should because each just those people how too little state good very make
		world still own see men work long get here between both life being under never day same another know while last might us great old
		year off come since against go came right used take three content contain contact control question section station mention attention
		internal interest interview consider condition present preserve pressure expression experience different difference understanding`)
	starts := strings.Fields("ba be bro ca chi con da dis dra el en fa flo ga gre ha hy im in ja ka lo lu ma mer mi ne no ob or pa per po qua re sa ser sto su ta ter tra un ver wa")
	middles := strings.Fields("ber can cer den di fi gen la li lo man mi mon na ni nor per pla ra ri ro sa sen si ta ten ti tor va vi")
	ends := strings.Fields("ance ate ed ent er ery est ful ian ic ing ion ish ism ist ity ive ize less ly ment ness ory ous ship tion ture ward")
	for _, start := range starts {
		for _, middle := range middles {
			for _, end := range ends {
				words = append(words, start+middle+end)
			}
		}
	}
	return words
}()

// longTasks fills the board with tasks of 4 KB whose words are distributed as in a language: the word of rank n is some n times
// as rare as the first. Every thousandth task holds the word zebrafish, too.
func (w *world) longTasks(count int) {
	w.t.Helper()
	w.Exec("DROP INDEX tasks_qgrams")
	source := rand.New(rand.NewPCG(1, 2))
	ranks := rand.NewZipf(source, 1.07, 2, uint64(len(vocabulary)-1))
	const batch, size = 500, 4000
	for from := 0; from < count; from += batch {
		texts := make([]string, batch)
		for i := range texts {
			var text strings.Builder
			if (from+i)%1000 == 0 {
				text.WriteString("zebrafish ")
			}
			for text.Len() < size {
				text.WriteString(vocabulary[ranks.Uint64()] + " ")
			}
			texts[i] = text.String()[:size]
		}
		w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
			SELECT gen_random_uuid(), stoa_now() + ($2::int + n) * interval '1 second', stoa_now(), $1, 'Title ' || n, text,
			  stoa_now() + interval '1 day', 1, 0, 1, 0
			FROM unnest($3::text[]) WITH ORDINALITY AS made(text, n)`, w.customer.ID, from, pq.Array(texts))
	}
	conn, err := w.DB.SQL.Conn(context.Background())
	require.NoError(w.t, err)
	defer conn.Close()
	for _, statement := range []string{
		"SET statement_timeout = 0", "SET maintenance_work_mem = '512MB'",
		"CREATE INDEX tasks_qgrams ON tasks USING gin (stoa_qgrams(CASE WHEN removed_at IS NULL THEN folded END)) WITH (fastupdate = off)",
		"VACUUM ANALYZE tasks", "RESET ALL",
	} {
		_, err := conn.ExecContext(context.Background(), statement)
		require.NoError(w.t, err)
	}
}

// How many texts a search looks at, whatever it looks for: what is common ends the walk, what is rare or nowhere is known from
// the index.
func TestSearchReadsFewTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const count = 2000
	w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 second', stoa_now(), $1, 'n' || n,
		  'the content of an internal question ' || CASE WHEN n <= 40 THEN 'of old ' ELSE '' END || CASE WHEN n % 50 = 0 THEN 'some ' ELSE '' END
		    || CASE WHEN n = 7 THEN 'zebrafish' ELSE '' END, stoa_now(), 1, 0, 1, 0
		FROM generate_series(1, $2) AS n`, w.customer.ID, count)
	w.Exec("VACUUM ANALYZE tasks")
	// examined counts the rows of tasks that a search reads: those of walks, and those that the index is right or wrong about.
	examined := func(q string) int64 {
		conn, err := w.DB.SQL.Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		// counted includes what the connection did before and has not reported yet.
		counted := func() (rows int64) {
			require.NoError(t, conn.QueryRowContext(t.Context(),
				"SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'tasks'").Scan(&rows))
			return rows
		}
		_, err = conn.ExecContext(t.Context(), "BEGIN") // within a transaction nothing is reported
		require.NoError(t, err)
		defer conn.ExecContext(context.Background(), "ROLLBACK")
		before := counted()
		statement, args, err := tasks.SearchStatement(w.customer.ID, q)
		require.NoError(t, err)
		rows, err := conn.QueryContext(t.Context(), statement.Text, args...)
		require.NoError(t, err)
		for rows.Next() {
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		return counted() - before
	}
	const page, probe, top = 21, 64, 64 + 1000 + 2*21
	for _, c := range []struct {
		q     string
		most  int64
		found int
	}{
		{"the", 1 + 2*page + page, 20},                 // the walk ends when the page is full
		{"some", top + 3*page, 20},                     // held by one in fifty
		{"zebrafish", probe + 4, 1},                    // by the index, after the probe
		{"of old", probe + 40 + 3*page, 20},            // not among the newest, so by the index
		{"contents", probe, 0},                         // its trigrams are in every text
		{"of the question of the", probe, 0},           // its words, too
		{"internal content of the question", probe, 0}, // in another order
	} {
		require.Len(t, w.found(anonymous(), c.q, "open"), c.found, c.q)
		require.LessOrEqual(t, examined(c.q), c.most, c.q)
	}
}

// BenchmarkWorstSearch searches 50,000 tasks of 4 KB (5,000 with -short) for what suits neither way best.
func BenchmarkWorstSearch(b *testing.B) {
	w := newWorld(b)
	count := 50_000
	if testing.Short() {
		count = 5_000
	}
	w.longTasks(count)
	// worst is the word for which the walk is long and in vain, or the index finds most.
	for _, q := range []string{
		"the", "zebrafish", "conter", "contation", "preser", "the the", "of in the", "in of to the", "th", "q", "zq", "gen", "ation", "perman",
		"stomonic", "sensship", "unplaward", "vertenity", "attention question",
	} {
		b.Run(fmt.Sprintf("%q", q), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				w.found(anonymous(), q, "open")
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
