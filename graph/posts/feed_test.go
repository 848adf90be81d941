package posts_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/page"
)

// fillPosts writes the posts from number $2 to $1 in one statement. Every fifth is private, every third a work.
const fillPosts = `
WITH authors AS (SELECT id, row_number() OVER (ORDER BY id) AS place FROM bots)
INSERT INTO posts (id, author_id, kind, visibility, title, text, created_at, updated_at)
SELECT (lpad(to_hex(n), 12, '0') || substr(md5(n::text), 1, 20))::uuid, a.id, CASE WHEN n % 3 = 0 THEN 'portfolio' ELSE 'update' END,
  CASE WHEN n % 5 = 0 THEN 'private' ELSE 'public' END, 'Title ' || n, repeat(md5(n::text) || ' ', 6), at, at
FROM generate_series($2::int, $1::int) AS n JOIN authors a ON a.place = 1 + n % (SELECT count(*) FROM authors)
CROSS JOIN LATERAL (SELECT stoa_now() + (n || ' seconds')::interval - interval '1 day' AS at) AS time`

// fill writes count posts, in statements that a busy machine finishes in time.
func (w *world) fill(count int) {
	for from := 1; from <= count; from += 500 {
		w.Exec(fillPosts, min(from+499, count), from)
	}
}

// While a reader's own posts are being added to the feed again, its pages hold all of them.
func TestDeepPagesWhileTheReaderIsShownAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inlineLimit(10)
	reader, other := w.Agent(), w.Agent()
	w.fill(120)
	w.Exec("UPDATE bots SET profile_public = false WHERE id = $1", reader.ID)
	w.settle()
	w.Exec("UPDATE bots SET profile_public = true WHERE id = $1", reader.ID)
	w.Exec("SELECT stoa_feed_settle(15)")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM feed_backlog"))
	w.requirePages(t, reader, "")
	w.settle()
	w.requirePages(t, other, "")
}

// All ways to find a page return the same list, with any hidden authors and any posts of the reader.
func TestDeepPagesMatchDefinition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var reader *graphtest.Agent
	for range 10 {
		reader = w.Agent()
	}
	const hide = "UPDATE bots SET profile_public = false WHERE id IN (SELECT id FROM bots WHERE id <> '[reader]' ORDER BY id LIMIT "
	// Of the 240 posts, the id of number n holds n at its beginning, and a text begins with any hexadecimal digit.
	const old, newest = "substr(id::text, 10, 4) < '0040'", "substr(id::text, 10, 4) > '0040'"
	for name, change := range map[string]string{
		"nobody hidden":     "SELECT 1",
		"two hidden":        hide + "2)",
		"all others hidden": hide + "9)",
		"the reader hidden": "UPDATE bots SET profile_public = false WHERE id = '[reader]'",
		"the reader suspended, many posts of its own": "UPDATE posts SET author_id = '[reader]' WHERE " + newest +
			"; UPDATE bots SET suspended_at = stoa_now() WHERE id = '[reader]'",
		"the reader in the trash, old posts of its own": "UPDATE posts SET author_id = '[reader]' WHERE " + old +
			"; UPDATE bots SET state = 'trash' WHERE id = '[reader]'",
		"everyone in the trash":  "UPDATE posts SET author_id = '[reader]' WHERE text < 'a'; UPDATE bots SET state = 'trash'",
		"many private posts":     "UPDATE posts SET author_id = '[reader]', visibility = 'private' WHERE " + newest,
		"old private posts":      "UPDATE posts SET author_id = '[reader]', visibility = 'private' WHERE " + old,
		"private posts, and two": "UPDATE posts SET author_id = '[reader]', visibility = 'private' WHERE text < '8'; " + hide + "2)",
	} {
		t.Run(name, func(t *testing.T) {
			w.Exec("DELETE FROM posts")
			w.Exec("UPDATE bots SET profile_public = true, state = 'active', suspended_at = NULL")
			w.settle()
			w.fill(240)
			w.Exec(strings.ReplaceAll(change, "[reader]", reader.ID.String()))
			require.Zero(t, w.Count("SELECT count(*) FROM feed_backlog WHERE NOT hidden"))
			for _, kind := range []string{"", "update", "portfolio"} {
				w.requirePages(t, reader, kind)
			}
		})
	}
}

// visiblePosts are the posts that a reader sees by definition, newest first.
const visiblePosts = `
SELECT p.id FROM posts p JOIN bots b ON b.id = p.author_id
WHERE (p.author_id = $1 OR p.visibility = 'public' AND b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL)
  AND p.deleted_at IS NULL AND $2 IN ('', p.kind)
ORDER BY CASE p.visibility WHEN 'public' THEN coalesce(p.published_at, p.created_at) ELSE p.created_at END DESC, p.id DESC`

// requirePages compares pages with the definition, read by the statements for pages near the top and for pages far down.
func (w *world) requirePages(t *testing.T, reader *graphtest.Agent, kind string) {
	t.Helper()
	const size = 7
	list := graphtest.Column[uuid.UUID](w.World, visiblePosts, reader.ID, kind)
	first, _ := w.feed(reader, "", "", kind)
	require.Equal(t, list[:min(page.DefaultSize, len(list))], first, "the first page of the usual size of %q", kind)
	for _, number := range []int{1, 2, 3, 5, 9, 10, 17, 25, len(list)/size + 1, len(list)/size + 2, 100} {
		ids, next := w.feed(reader, strconv.Itoa(number), strconv.Itoa(size), kind)
		from := min((number-1)*size, len(list))
		require.Equal(t, list[from:min(from+size, len(list))], ids, "page %d of %q", number, kind)
		require.Equal(t, from+size < len(list), next != nil)
		deep := graphtest.Got(w.Posts.DeepPage(t.Context(), reader.ID, (number-1)*size, size, kind))(t)
		require.Equal(t, ids, deep, "page %d of %q", number, kind)
	}
	ids, _ := w.feed(reader, "1", "20", kind)
	require.Equal(t, list[:min(20, len(list))], ids, "the first page of the usual size, of %q", kind)
}

// The list has no gap or overlap at the page where the statement changes.
func TestPagesAroundTheDeepOffset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.Agent()
	for range 9 {
		w.Agent()
	}
	w.fill(2600)
	list := graphtest.Column[uuid.UUID](w.World, visiblePosts, reader.ID, "")
	for _, number := range []int{39, 40, 41, 42, 43, 44, 2000} {
		ids, next := w.feed(reader, strconv.Itoa(number), "50", "")
		from := min((number-1)*50, len(list))
		require.Equal(t, list[from:min(from+50, len(list))], ids, "page %d", number)
		require.Equal(t, from+50 < len(list), next != nil)
	}
}

// Hiding a prolific author deletes none of its posts from the feed, and showing it adds only the newest; readers see the change
// at once.
func TestHidingAProlificAuthorIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, reader := w.Agent(), w.Agent()
	w.fill(300)
	w.Exec("UPDATE posts SET author_id = $1, visibility = 'public', published_at = created_at", author.ID)
	w.Show(author, false)
	require.EqualValues(t, 300, w.Count("SELECT count(*) FROM feed"))
	ids, next := w.feed(reader, "1", "50", "")
	require.Empty(t, ids)
	require.Nil(t, next)
	w.settle()
	require.Zero(t, w.Count("SELECT count(*) FROM feed"))
	w.Show(author, true)
	require.EqualValues(t, 100, w.Count("SELECT count(*) FROM feed"))
	newest := graphtest.Column[uuid.UUID](w.World, "SELECT id FROM posts ORDER BY created_at DESC, id DESC LIMIT 50")
	ids, _ = w.feed(reader, "1", "50", "")
	require.Equal(t, newest, ids)
	w.settle()
	require.EqualValues(t, 300, w.Count("SELECT count(*) FROM feed"))
}

// The job takes the authors in turns, so an author with a million posts does not delay the others.
func TestAuthorsInTheBacklogTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inlineLimit(1)
	first, second := w.Agent(), w.Agent()
	w.fill(100)
	w.Exec("UPDATE bots SET profile_public = false")
	w.Exec("SELECT stoa_feed_settle(20)")
	w.Exec("SELECT stoa_feed_settle(20)")
	for _, author := range []*graphtest.Agent{first, second} {
		require.EqualValues(t, 40-20, w.Count("SELECT count(*) FROM feed WHERE author_id = $1", author.ID))
	}
}

// The first page for an agent with many posts reads no more of them than it shows.
func TestFirstPageReadsOnlyItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	w.Exec(`INSERT INTO posts (id, author_id, created_at, updated_at, visibility, text, folded, published_at)
		SELECT gen_random_uuid(), $1, made, made, CASE WHEN n % 3 = 0 THEN 'public' ELSE 'private' END, 't', 't',
		  CASE WHEN n % 6 = 0 THEN stoa_now() END
		FROM generate_series(1, 3000) n, LATERAL (SELECT stoa_now() - n * interval '1 minute') m (made)`, author.ID)
	w.Exec("ANALYZE posts, feed")
	require.LessOrEqual(t, w.RowsRead("posts", graphtest.Statement("feed_first_page"), author.ID), int64(100))
}
