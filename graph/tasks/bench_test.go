package tasks_test

import "testing"

// BenchmarkLongTexts searches 50,000 tasks of 4 KB, with -short 2,000.
func BenchmarkLongTexts(b *testing.B) {
	w := newWorld(b)
	count := 50_000
	if testing.Short() {
		count = 2000
	}
	for from := 1; from < count; from += 1000 {
		w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
			SELECT gen_random_uuid(), stoa_now() + n * interval '1 second', stoa_now(), $1, 'n' || n,
			  CASE WHEN n = 700 THEN 'zebrafish ' ELSE '' END || 'the content of an internal question ' || words, stoa_now(), 1, 0, 1, 0
			FROM generate_series($2::int, $2 + 999) AS n CROSS JOIN LATERAL (
			  SELECT string_agg(substr(md5(floor(random() * 3000 + n - n)::text), 1, 4 + w % 6), ' ') AS words FROM generate_series(1, 540) AS w
			) text`, w.customer.ID, from)
	}
	w.Exec("VACUUM ANALYZE tasks")
	b.Logf("the index has %d KB", w.Count("SELECT pg_relation_size('tasks_trigrams') / 1024"))
	for name, q := range map[string]string{
		"rare": "zebrafish", "common": "internal", "missing": "zymurgy", "missing, common trigrams": "contents", "missing, short": "qz",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.found(w.responder.Ctx, q, "open")
			}
		})
	}
}
