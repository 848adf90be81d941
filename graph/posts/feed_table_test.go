package posts_test

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// feedTexts are the texts of the posts in the table feed, by letter.
func (s *fixture) feedTexts() string {
	return graphtest.Column[string](s.World, `SELECT coalesce(string_agg(p.text, ' ' ORDER BY p.text), '') FROM feed f
		JOIN posts p ON p.id = f.id AND coalesce(p.published_at, p.created_at) = f.created_at
		WHERE f.author_id NOT IN (SELECT author_id FROM feed_backlog WHERE hidden)`)[0]
}

func (s *fixture) change(id uuid.UUID, f posts.Fields) { graphtest.OK(s.t)(s.update(s.author, id, f)) }

func (s *fixture) suspend() {
	graphtest.OK(s.t)(s.Operator.SuspendBot(s.operator, s.author.ID, nil, "It floods."))
}

func (s *fixture) reinstate() {
	graphtest.OK(s.t)(s.Operator.ReinstateBot(s.operator, s.author.ID, "It was a test."))
}

func (s *fixture) close() { s.Show(s.author, false) }

func (s *fixture) reopen() { s.Show(s.author, true) }

// set writes a column of the author's row.
func (s *fixture) set(assignment string) {
	s.Exec("UPDATE bots SET "+assignment+" WHERE id = $1", s.author.ID)
}

// idle makes all agents inactive for long enough and sweeps.
func (s *fixture) idle() {
	s.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	s.Shift(100 * 24 * time.Hour)
	graphtest.OK(s.t)(s.Bots.Trash(context.Background()))
}

// After any change of a post or its author, the feed holds exactly the posts that everyone sees.
func TestFeedMatchesDefinition(t *testing.T) {
	t.Parallel()
	const all, nothing = "open other work", ""
	cases := map[string]struct {
		change []func(*fixture)
		want   string
	}{
		"as it begins":             {nil, all},
		"a public post":            {[]func(*fixture){func(s *fixture) { s.Posted(s.author, "new", "public") }}, "new open other work"},
		"a private post":           {[]func(*fixture){func(s *fixture) { s.Posted(s.author, "new", "private") }}, all},
		"published":                {[]func(*fixture){func(s *fixture) { s.change(s.note, posts.Fields{Visibility: ptr("public")}) }}, "note open other work"},
		"published twice":          {[]func(*fixture){func(s *fixture) { s.change(s.open, posts.Fields{Visibility: ptr("public")}) }}, all},
		"hidden":                   {[]func(*fixture){func(s *fixture) { s.change(s.open, posts.Fields{Visibility: ptr("private")}) }}, "other work"},
		"of another kind":          {[]func(*fixture){func(s *fixture) { s.change(s.open, posts.Fields{Kind: ptr("portfolio")}) }}, all},
		"of another kind, hidden":  {[]func(*fixture){func(s *fixture) { s.change(s.open, posts.Fields{Kind: ptr("portfolio"), Visibility: ptr("private")}) }}, "other work"},
		"deleted":                  {[]func(*fixture){func(s *fixture) { s.remove(s.author, s.open) }}, "other work"},
		"a private one deleted":    {[]func(*fixture){func(s *fixture) { s.remove(s.author, s.note) }}, all},
		"removed by an operator":   {[]func(*fixture){func(s *fixture) { graphtest.OK(s.t)(s.Operator.RemovePost(s.operator, s.work, nil, "It is stolen.")) }}, "open other"},
		"closed":                   {[]func(*fixture){(*fixture).close}, "other"},
		"closed and open again":    {[]func(*fixture){(*fixture).close, (*fixture).reopen}, all},
		"suspended":                {[]func(*fixture){(*fixture).suspend}, "other"},
		"reinstated":               {[]func(*fixture){(*fixture).suspend, (*fixture).reinstate}, all},
		"closed, then suspended":   {[]func(*fixture){(*fixture).close, (*fixture).suspend}, "other"},
		"reinstated, still closed": {[]func(*fixture){(*fixture).close, (*fixture).suspend, (*fixture).reinstate}, "other"},
		"open, still suspended":    {[]func(*fixture){(*fixture).close, (*fixture).suspend, (*fixture).reopen}, "other"},
		"everyone idle":            {[]func(*fixture){(*fixture).idle}, nothing},
		"restored from the trash":  {[]func(*fixture){(*fixture).idle, func(s *fixture) { s.set("state = 'active'") }}, "open work"},
		"an agent deleted":         {[]func(*fixture){func(s *fixture) { s.set("state = 'deleted'") }}, "other"},
		"from trash to deleted":    {[]func(*fixture){func(s *fixture) { s.set("state = 'trash'") }, func(s *fixture) { s.set("state = 'deleted'") }}, "other"},
		"deleted and restored":     {[]func(*fixture){func(s *fixture) { s.set("state = 'deleted'") }, func(s *fixture) { s.set("state = 'active'") }}, all},
		"everyone suspended":       {[]func(*fixture){func(s *fixture) { s.Exec("UPDATE bots SET suspended_at = stoa_now()") }}, nothing},
		"one suspended, one closed": {[]func(*fixture){func(s *fixture) {
			s.Exec("UPDATE bots SET suspended_at = CASE WHEN id = $1 THEN stoa_now() END, profile_public = id = $1", s.author.ID)
		}}, nothing},
		"two change places": {[]func(*fixture){(*fixture).close, func(s *fixture) {
			s.Exec("UPDATE bots SET profile_public = NOT profile_public")
		}}, "open work"},
		"published while closed": {[]func(*fixture){(*fixture).close, func(s *fixture) { s.Exec("UPDATE posts SET visibility = 'public'") }}, "other"},
		"open with published posts": {[]func(*fixture){
			(*fixture).close, func(s *fixture) { s.Exec("UPDATE posts SET visibility = 'public'") }, (*fixture).reopen,
		}, "note open other work"},
		"open without hidden posts": {[]func(*fixture){
			(*fixture).close, func(s *fixture) { s.change(s.open, posts.Fields{Visibility: ptr("private")}) }, func(s *fixture) { s.remove(s.author, s.work) }, (*fixture).reopen,
		}, "other"},
		"open with posts of another kind": {[]func(*fixture){
			(*fixture).close, func(s *fixture) { s.change(s.open, posts.Fields{Kind: ptr("portfolio")}) }, (*fixture).reopen,
		}, all},
		"another time":   {[]func(*fixture){func(s *fixture) { s.Exec("UPDATE posts SET created_at = created_at - interval '1 day'") }}, all},
		"another id":     {[]func(*fixture){func(s *fixture) { s.Exec("UPDATE posts SET id = gen_random_uuid()") }}, all},
		"another author": {[]func(*fixture){func(s *fixture) { s.Exec("UPDATE posts SET author_id = $1", s.another.ID) }}, all},
		"another author, who is closed": {[]func(*fixture){
			(*fixture).close, func(s *fixture) { s.Exec("UPDATE posts SET author_id = $1", s.author.ID) },
		}, nothing},
		"from an author who is closed": {[]func(*fixture){
			(*fixture).close, func(s *fixture) { s.Exec("UPDATE posts SET author_id = $1", s.another.ID) },
		}, all},
		"gone for good": {[]func(*fixture){func(s *fixture) { s.Exec("DELETE FROM posts WHERE author_id = $1", s.author.ID) }}, "other"},
		"emptied":       {[]func(*fixture){func(s *fixture) { s.Exec("TRUNCATE posts") }}, nothing},
	}
	for _, prolific := range []bool{false, true} {
		t.Run(fmt.Sprintf("prolific %t", prolific), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if prolific {
				w.inlineLimit(1)
			}
			for name, c := range cases {
				t.Run(name, func(t *testing.T) {
					w.Exec("DELETE FROM posts")
					s := w.fixture()
					for _, change := range c.change {
						change(s)
						require.Zero(t, s.Count(feedDifference))
					}
					s.settle()
					require.Equal(t, c.want, s.feedTexts())
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
		func() { s.set("last_active_at = stoa_now() + interval '1 second', bio = 'a bio'") },
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
