package posts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/viewer"
	"stoa/graph/posts"
)

// definedFeed begins a query with the rows that the table feed holds by definition.
const definedFeed = `
WITH defined AS (
  SELECT coalesce(p.published_at, p.created_at), p.id, p.author_id, p.kind FROM posts p JOIN bots b ON b.id = p.author_id
  WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL
)`

// feedDifference counts the rows in which the feed that readers see differs from its definition. Posts of an author in the
// backlog who is shown again may still be missing.
const feedDifference = definedFeed + `
, shown AS (
  SELECT * FROM feed f WHERE f.author_id NOT IN (SELECT author_id FROM feed_backlog WHERE hidden)
), missing AS (
  (TABLE defined EXCEPT ALL TABLE shown)
)
SELECT (SELECT count(*) FROM (TABLE shown EXCEPT ALL TABLE defined) AS extra)
  + (SELECT count(*) FROM missing WHERE author_id NOT IN (SELECT author_id FROM feed_backlog))`

// feedTableDifference counts the rows in which the table feed itself differs once the backlog is settled.
const feedTableDifference = definedFeed + `
SELECT (SELECT count(*) FROM feed_backlog)
  + (SELECT count(*) FROM ((TABLE feed EXCEPT ALL TABLE defined) UNION ALL (TABLE defined EXCEPT ALL TABLE feed)) AS d)`

// fixture is a world: one agent has the posts open, work (a portfolio) and note (private), and another has the post other.
type fixture struct {
	*world
	author, another  *graphtest.Agent
	open, work, note uuid.UUID
	operator         context.Context
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newWorld(t).fixture()
}

// fixture adds one to a world.
func (w *world) fixture() *fixture {
	s := &fixture{world: w, operator: viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})}
	s.author, s.another = s.Agent(), s.Agent()
	s.open, s.note = s.Posted(s.author, "open", "public").ID, s.Posted(s.author, "note", "private").ID
	work := posts.Fields{Text: ptr("work"), Kind: ptr("portfolio"), Visibility: ptr("public")}
	s.work = graphtest.Got(s.create(s.author, work))(w.t).Post.ID
	s.Posted(s.another, "other", "public")
	return s
}

func (s *fixture) change(id uuid.UUID, f posts.Fields) { graphtest.OK(s.t)(s.update(s.author, id, f)) }

func (s *fixture) close() { s.Show(s.author, false) }

func (s *fixture) reopen() { s.Show(s.author, true) }

// After any change of posts and authors that TestFeedModel does not make, the feed holds exactly the posts that everyone sees.
func TestFeedMatchesDefinition(t *testing.T) {
	t.Parallel()
	const (
		closed  = "UPDATE bots SET profile_public = false WHERE id = '[author]'"
		trashed = "UPDATE bots SET state = 'trash'"
		deleted = "UPDATE bots SET state = 'deleted' WHERE id = '[author]'"
		active  = "UPDATE bots SET state = 'active' WHERE id = '[author]'"
		public  = "UPDATE posts SET visibility = 'public'"
	)
	cases := map[string][]string{
		"everyone in the trash":   {trashed},
		"restored from the trash": {trashed, active},
		"an agent deleted":        {deleted},
		"from trash to deleted":   {trashed, deleted},
		"deleted and restored":    {deleted, active},
		"one suspended, one closed": {
			"UPDATE bots SET suspended_at = CASE WHEN id = '[author]' THEN stoa_now() END, profile_public = id = '[author]'",
		},
		"two change places":             {closed, "UPDATE bots SET profile_public = NOT profile_public"},
		"published while closed":        {closed, public},
		"open with published posts":     {closed, public, "UPDATE bots SET profile_public = true"},
		"another time":                  {"UPDATE posts SET created_at = created_at - interval '1 day'"},
		"another id":                    {"UPDATE posts SET id = gen_random_uuid()"},
		"another author":                {"UPDATE posts SET author_id = '[another]'"},
		"another author, who is closed": {closed, "UPDATE posts SET author_id = '[author]'"},
		"from an author who is closed":  {closed, "UPDATE posts SET author_id = '[another]'"},
		"gone for good":                 {"DELETE FROM posts WHERE author_id = '[author]'"},
		"emptied":                       {"TRUNCATE posts"},
	}
	for _, prolific := range []bool{false, true} {
		t.Run(fmt.Sprintf("prolific %t", prolific), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if prolific {
				w.inlineLimit(1)
			}
			for name, changes := range cases {
				t.Run(name, func(t *testing.T) {
					w.Exec("DELETE FROM posts")
					s := w.fixture()
					for _, change := range changes {
						s.Exec(strings.NewReplacer("[author]", s.author.ID.String(), "[another]", s.another.ID.String()).Replace(change))
						require.Zero(t, s.Count(feedDifference))
					}
					s.settle()
				})
			}
		})
	}
}

// inlineLimit makes every author with more posts than limit prolific.
func (w *world) inlineLimit(limit int) {
	w.Exec(fmt.Sprintf("CREATE OR REPLACE FUNCTION stoa_feed_inline_limit() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT %d'", limit))
}

// settle runs the job until the backlog is empty.
func (w *world) settle() {
	graphtest.OK(w.t)(w.Posts.SettleFeed(context.Background()))
	require.Zero(w.t, w.Count(feedTableDifference))
}

// Changes that do not affect the feed do not write to it.
func TestIrrelevantChangesDoNotWriteTheFeed(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	rows := func() string {
		return graphtest.Column[string](s.World,
			"SELECT string_agg(f.xmin::text || f.ctid::text, ' ' ORDER BY created_at) || count(*) FROM feed f")[0]
	}
	before := rows()
	for _, change := range []func(){
		func() { s.change(s.open, posts.Fields{Text: ptr("a new text"), Title: ptr("a title")}) },
		func() { s.change(s.open, posts.Fields{Visibility: ptr("public"), Kind: ptr("update")}) },
		func() { s.change(s.note, posts.Fields{Kind: ptr("portfolio")}) },
		func() { s.remove(s.author, s.note) },
		func() { s.reopen() },
		func() {
			s.Exec("UPDATE bots SET last_active_at = stoa_now() + interval '1 second', bio = 'a bio' WHERE id = $1", s.author.ID)
		},
	} {
		change()
		require.Equal(t, before, rows())
	}
}

// A wrong or missing row is repaired when its author is hidden and shown.
func TestFeedIsCorrectedByHidingAndShowing(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.Exec("DELETE FROM feed WHERE id = $1", s.open)
	s.close()
	s.reopen()
	require.Zero(t, s.Count(feedDifference))
	s.close()
	s.Exec("INSERT INTO feed SELECT created_at, id, author_id, kind FROM posts WHERE id = $1", s.work)
	s.reopen()
	require.Zero(t, s.Count(feedDifference))
}
