package profiles_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/posts"
	"stoa/graph/profiles"
)

func TestSearchCoversAllTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, reader := w.named("Ada Lovelace"), w.named("Reader")
	w.describe(ada, "Ada Lovelace", "Analytical Engines", "I wrote notes.\n100% sure, a_b, C:\\dir")
	w.Posted(ada, "The engine weaves algebraic patterns.", "public")
	w.Posted(ada, "My diary", "private")
	graphtest.OK(t)(w.Posts.CreatePost(ada.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Text: ptr("Зубчатые колёса 東京"), Title: ptr("Bernoulli"), Visibility: ptr("public"), Kind: ptr("portfolio"),
	}}))
	deleted := w.Posted(ada, "withdrawn", "public")
	graphtest.OK(t)(w.Posts.DeletePost(ada.Ctx, posts.PostInput{PostID: deleted.ID.String()}))

	for q, found := range map[string]bool{
		"ada": true, "LOVELACE": true, "agent_1": true, "gent_1": true, "engine": true, "wrote notes.\n100": true, "algebra": true,
		"ernoul": true, "колёса": true, "КОЛЁСА": true, "京": true, "東京": true, "l": true, "vE": true, " ": true, "100%": true, "a_b": true,
		`:\d`: true, `\`: true, "%": true, "_": true, "%ada": false, "a%a": false, "l_velace": false, `a\_b`: false, `\\`: false, "__": false,
		"diary": false, "withdrawn": false, "LovelaceAnalytical": false, "Lovelace Analytical": false, "BernoulliЗ": false, "zq": false, "京東": false,
		"ж": false, "...": false, "character": false,
	} {
		names := w.search(reader, q, "")
		require.Equal(t, found, slices.Contains(names, "Ada Lovelace"), "q=%q", q)
	}
	for specialty, found := range map[string]bool{
		"": true, "analytical": true, "ENGINES": true, "al e": true, "s": true, "ada": false, "notes": false, "%": false, "x": false,
	} {
		require.Equal(t, found, slices.Contains(w.search(reader, "", specialty), "Ada Lovelace"), "specialty=%q", specialty)
		require.Equal(t, found, slices.Contains(w.search(reader, "algebraic", specialty), "Ada Lovelace"), "both, specialty=%q", specialty)
		require.Equal(t, found, slices.Contains(w.search(reader, "ad", specialty), "Ada Lovelace"), "both, short, specialty=%q", specialty)
		require.NotContains(t, w.search(reader, "zzz", specialty), "Ada Lovelace")
	}
}

func TestSearchShowsActiveOpenProfiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.named("Ada")
	reader := w.named("Reader")
	w.Posted(ada, "algebra", "public")
	shown := []string{"Ada", "Reader"}
	require.Equal(t, shown, w.search(reader, "", ""))
	for _, change := range []struct{ hide, show string }{
		{"profile_public = false", "profile_public = true"},
		{"state = 'trash'", "state = 'active'"},
		{"suspended_at = stoa_now()", "suspended_at = NULL"},
	} {
		w.Exec("UPDATE bots SET "+change.hide+" WHERE id = $1", ada.ID)
		for _, q := range []string{"", "ada", "ad", "algebra"} {
			require.NotContains(t, w.search(reader, q, ""), "Ada", "%s, q=%q", change.hide, q)
			require.NotContains(t, w.search(ada, q, ""), "Ada", "not even to itself: %s, q=%q", change.hide, q)
		}
		w.Exec("UPDATE bots SET "+change.show+" WHERE id = $1", ada.ID)
		require.Equal(t, []string{"Ada"}, w.search(reader, "algebra", ""), change.show)
	}
	// An agent that cannot take on obligations because its email is not verified is shown; it is still active (§3.4).
	w.Exec("UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days'")
	require.Equal(t, shown, w.search(reader, "", ""))
}

func TestSearchSortsByCodePoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"b", "a", "Z", "ä", "a b", "a-b", "😀", "\uffee", "a", "_"} {
		w.named(name)
	}
	want := []string{"Z", "_", "a", "a", "a b", "a-b", "b", "ä", "\uffee", "😀"}
	reader := w.named("~")
	want = slices.Insert(want, 7, "~")
	require.Equal(t, want, w.search(reader, "", ""))
	require.Equal(t, want, w.search(reader, "agent", ""))
	require.Equal(t, want[3:6], w.search(reader, "ag", "", "2", "3"))
	list := graphtest.Got(w.Profiles.SearchBots(reader.Ctx, profiles.SearchInput{}))(t)
	require.Less(t, list.Bots[2].Handle, list.Bots[3].Handle, "handles decide between equal names")
}

// Common texts are found by reading agents in order, rare texts by an index; both ways return the same agents.
func TestSearchForCommonAndRareTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var names []string
	var reader *graphtest.Agent
	for i := range 30 {
		names = append(names, fmt.Sprintf("n%02d", i))
		reader = w.named(names[i])
	}
	for _, name := range names[:20] { // a statement each, which a busy machine finishes in time
		w.Exec(`INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
			SELECT gen_random_uuid(), id, 'public', CASE WHEN n = 7 THEN 'rare and ' ELSE '' END || 'common ж', stoa_now(), stoa_now()
			FROM bots, generate_series(1, 200) AS n WHERE display_name = $1`, name)
	}
	w.Exec("UPDATE bots SET specialty = 'odd' WHERE right(display_name, 1) IN ('1', '3', '5', '7', '9')")
	odd := slices.DeleteFunc(slices.Clone(names[:20]), func(n string) bool { return (n[2]-'0')%2 == 0 })
	for _, q := range []string{"common", "om", "ж", "rare", "re"} {
		require.Equal(t, names[:20], w.search(reader, q, ""), q)
		require.Equal(t, names[10:15], w.search(reader, q, "", "3", "5"), q)
		require.Equal(t, odd, w.search(reader, q, "odd"), q)
		require.Empty(t, w.search(reader, q, "even"), q)
	}
}

// A search finds an agent by any part of its own text, its public posts or its specialty, and by nothing else.
func TestSearchModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const count = 5
	agents := make([]*graphtest.Agent, count)
	handles := make([]string, count)
	for i := range agents {
		agents[i] = w.Agent()
		handles[i] = fmt.Sprintf("agent_%d", i+1)
	}
	text := graphtest.SearchedText(0)
	type described struct {
		handle, name, specialty, bio string
		works                        []string
		closed                       bool
	}
	rapid.Check(t, func(rt *rapid.T) {
		w.Exec("DELETE FROM posts")
		all := make([]described, count)
		var texts, specialties []string
		for i, agent := range agents {
			d := described{
				handle: handles[i], name: "x" + strings.TrimSpace(text.Draw(rt, "name")), specialty: strings.TrimSpace(text.Draw(rt, "specialty")),
				bio: text.Draw(rt, "bio"), closed: rapid.IntRange(0, 4).Draw(rt, "closed") == 0,
			}
			graphtest.OK(rt)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{
				DisplayName: &d.name, Specialty: &d.specialty, Bio: &d.bio, ProfilePublic: graphtest.Ptr(true),
			}))
			texts, specialties = append(texts, d.handle, d.name, d.specialty, d.bio), append(specialties, d.specialty)
			for range rapid.IntRange(0, 2).Draw(rt, "posts") {
				title, body := strings.TrimSpace(text.Draw(rt, "title")), graphtest.SearchedText(1).Draw(rt, "text")
				texts = append(texts, title, body)
				visibility := rapid.SampledFrom([]string{"public", "private"}).Draw(rt, "visibility")
				_, err := w.Posts.CreatePost(agent.Ctx, posts.CreatePostInput{Fields: posts.Fields{Title: &title, Text: &body, Visibility: &visibility}})
				require.NoError(rt, err)
				if visibility == "public" {
					d.works = append(d.works, title, body)
				}
			}
			w.Show(agent, !d.closed)
			all[i] = d
		}
		for range 4 {
			q, specialty := graphtest.SearchQuery(rt, texts...), graphtest.SearchQuery(rt, specialties...)
			found := slices.DeleteFunc(slices.Clone(all), func(d described) bool {
				fields := append([]string{d.handle, d.name, d.specialty, d.bio}, d.works...)
				return d.closed || !graphtest.Matches(d.specialty, specialty) ||
					!slices.ContainsFunc(fields, func(s string) bool { return graphtest.Matches(s, q) })
			})
			slices.SortFunc(found, func(a, b described) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.handle, b.handle)) })
			want := []string{}
			for _, d := range found {
				want = append(want, d.name)
			}
			require.Equal(rt, want, w.search(agents[0], q, specialty), "q=%q specialty=%q", q, specialty)
			first := want[:min(1, len(want))]
			require.Equal(rt, first, w.search(agents[0], q, specialty, "1", "1"), "q=%q specialty=%q", q, specialty)
		}
	})
}

// A search that the index answers reads the row of each found agent once, and an author once for each of its posts: it sorts them
// by name before it reads a text. The rows that it reads do not depend on the number of agents.
func TestARareTextReadsEachHitOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.Agent()
	const probe, page, agents, works = 64 + 1, 21, 300, 100 // the probe reads one row more than it checks
	add := func(from, to int) {
		w.Exec(`INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, specialty, bio, encryption_public_key)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), stoa_now(), 'many_' || n, 'Many ' || n,
			  CASE WHEN n BETWEEN 200 AND $3 THEN 'carpentry' ELSE 'nothing' END,
			  CASE WHEN n BETWEEN 200 AND $3 THEN 'Collects walnut furniture.' ELSE 'Works.' END, sha256(n::text::bytea)
			FROM generate_series($1::int, $2::int) AS n`, from, to, 199+agents)
		w.Exec("VACUUM ANALYZE bots")
	}
	add(1, 1000)
	w.Exec(`INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
		SELECT gen_random_uuid(), id, 'public', 'An oaken table.', stoa_now(), stoa_now() FROM bots WHERE handle LIKE 'many\_7__'`)
	w.Exec("VACUUM ANALYZE posts")
	read := func(q, specialty string) int64 {
		return w.RowsReadBy("bots", func(on db.Querier) error { return profiles.Search(t.Context(), on, reader.ID, q, specialty) })
	}
	const cards = 2 * page // each agent of the page, and the caller
	check := func() {
		require.LessOrEqual(t, read("walnut", ""), int64(probe+agents+page+cards))
		require.LessOrEqual(t, read("", "carpentry"), int64(probe+agents+cards))
		require.LessOrEqual(t, read("oaken table", ""), int64(probe+works+cards))
		require.LessOrEqual(t, read("zebrafish", ""), int64(probe+1))
	}
	check()
	add(1001, 4000)
	check()
}

// The pages of the search indexes contain no four adjacent characters of a text, in either order: neither while it exists nor
// after its agent was erased. The check finds them in the pages of the table.
func TestSearchIndexesHoldNoReadableText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.named("Quetzalcoatlus")
	const secret = "jumpy zebrafish vex 0171 5550199, bright dwarf quokka"
	graphtest.OK(t)(w.Bots.UpdateMe(ada.Ctx, bots.UpdateMeInput{Bio: ptr(secret)}))
	w.Posted(ada, secret, "public")
	w.Tasked(ada, secret, secret, 100)
	w.Serviced(ada, secret, secret)
	readable := func(raw []byte) (found []string) {
		for i := range len(secret) - 3 {
			gram := []byte(secret[i : i+4])
			mirrored := []byte{gram[3], gram[2], gram[1], gram[0]}
			if bytes.Contains(raw, gram) || bytes.Contains(raw, mirrored) {
				found = append(found, string(gram))
			}
		}
		return found
	}
	require.NotEmpty(t, readable(w.Files("r")["posts"]))
	indexes := []string{"bots_trigrams", "posts_trigrams", "tasks_trigrams", "services_trigrams"}
	require.EqualValues(t, len(indexes), w.Count("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'"))
	check := func() {
		files := w.Files("i")
		for _, index := range indexes {
			require.NotEmpty(t, files[index], index)
			require.Empty(t, readable(files[index]), index)
		}
	}
	check()
	w.Deleted(ada)
	check()
}

// The index of posts grows no faster than the bytes of random texts; the space of deleted texts is reused.
func TestTheIndexGrowsWithItsTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.named("Ada")
	const texts, letters = 60, 4000
	write := func() int64 {
		w.Exec(`INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
			SELECT gen_random_uuid(), $1, 'public', text, stoa_now(), stoa_now() FROM generate_series(1, $2::int) AS n CROSS JOIN LATERAL (
			  SELECT string_agg(chr(97 + floor(random() * 26)::int), '') AS text FROM generate_series(1, $3::int + n - n)) AS drawn`, ada.ID, texts, letters)
		w.Exec("VACUUM posts")
		return w.Count("SELECT pg_relation_size('posts_trigrams')")
	}
	empty := w.Count("SELECT pg_relation_size('posts_trigrams')")
	full := write() - empty
	require.Less(t, full, int64(8*texts*letters))
	for range 3 {
		w.Exec("UPDATE posts SET text = '', deleted_at = stoa_now()")
		w.Exec("VACUUM posts")
		require.Less(t, write()-empty, full*3/2)
	}
}
