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

// unlike counts the rows in which the feed that readers see and what it is defined to be differ. Posts of an author in the backlog who
// is shown again may still be missing.
const unlike = `
WITH defined AS (
  SELECT p.created_at, p.id, p.author_id, p.kind FROM posts p JOIN bots b ON b.id = p.author_id
  WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL
)
, shown AS (
  SELECT * FROM feed f WHERE f.author_id NOT IN (SELECT author_id FROM feed_backlog WHERE hidden)
), missing AS (
  (TABLE defined EXCEPT ALL TABLE shown)
)
SELECT (SELECT count(*) FROM (TABLE shown EXCEPT ALL TABLE defined) AS extra)
  + (SELECT count(*) FROM missing WHERE author_id NOT IN (SELECT author_id FROM feed_backlog))`

// unsettled counts the rows in which the table feed itself differs once the backlog is settled.
const unsettled = `
WITH defined AS (
  SELECT p.created_at, p.id, p.author_id, p.kind FROM posts p JOIN bots b ON b.id = p.author_id
  WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL
)
SELECT (SELECT count(*) FROM feed_backlog)
  + (SELECT count(*) FROM ((TABLE feed EXCEPT ALL TABLE defined) UNION ALL (TABLE defined EXCEPT ALL TABLE feed)) AS d)`

// stage is a world with one agent's posts open, work (a portfolio) and note (private), and another's post other.
type stage struct {
	*world
	author, another  *graphtest.Agent
	open, work, note uuid.UUID
	operator         context.Context
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return newWorld(t).stage()
}

// stage adds one to a world.
func (w *world) stage() *stage {
	w.t.Helper()
	s := &stage{world: w, operator: viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})}
	s.author, s.another = s.Agent(), s.Agent()
	s.open, s.note = s.Posted(s.author, "open", "public").ID, s.Posted(s.author, "note", "private").ID
	work, err := s.create(s.author, posts.Fields{Text: ptr("work"), Kind: ptr("portfolio"), Visibility: ptr("public")})
	require.NoError(w.t, err)
	s.work = work.ID
	s.Posted(s.another, "other", "public")
	return s
}

// listed are the texts of the posts in the table feed, by letter.
func (s *stage) listed() string {
	s.t.Helper()
	return s.text(`SELECT coalesce(string_agg(p.text, ' ' ORDER BY p.text), '') FROM feed f JOIN posts p USING (id, created_at)
		WHERE f.author_id NOT IN (SELECT author_id FROM feed_backlog WHERE hidden)`)
}

func (s *stage) text(query string) string {
	s.t.Helper()
	var found string
	require.NoError(s.t, s.DB.SQL.QueryRowContext(context.Background(), query).Scan(&found))
	return found
}

// ok ends a call whose result does not matter.
func (s *stage) ok(_ any, err error) {
	s.t.Helper()
	require.NoError(s.t, err)
}

func (s *stage) change(id uuid.UUID, f posts.Fields) { s.ok(s.update(s.author, id, f)) }

func (s *stage) suspend() { s.ok(s.Operator.SuspendBot(s.operator, s.author.ID, "It floods.")) }

func (s *stage) reinstate() { s.ok(s.Operator.ReinstateBot(s.operator, s.author.ID, "It was a test.")) }

func (s *stage) close() { s.Show(s.author, false) }

func (s *stage) reopen() { s.Show(s.author, true) }

// set writes a column of the author's row.
func (s *stage) set(assignment string) {
	s.Exec("UPDATE bots SET "+assignment+" WHERE id = $1", s.author.ID)
}

// idle leaves all agents alone for long enough and sweeps.
func (s *stage) idle() {
	s.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	s.Shift(100 * 24 * time.Hour)
	s.ok(s.Bots.Trash(context.Background()))
}

// Whatever happens to a post or its author, the feed holds what everyone sees.
func TestWhatTheFeedHolds(t *testing.T) {
	t.Parallel()
	const all, nothing = "open other work", ""
	for name, c := range map[string]struct {
		change []func(*stage)
		want   string
	}{
		"as it begins":             {nil, all},
		"a public post":            {[]func(*stage){func(s *stage) { s.Posted(s.author, "new", "public") }}, "new open other work"},
		"a private post":           {[]func(*stage){func(s *stage) { s.Posted(s.author, "new", "private") }}, all},
		"published":                {[]func(*stage){func(s *stage) { s.change(s.note, posts.Fields{Visibility: ptr("public")}) }}, "note open other work"},
		"published twice":          {[]func(*stage){func(s *stage) { s.change(s.open, posts.Fields{Visibility: ptr("public")}) }}, all},
		"hidden":                   {[]func(*stage){func(s *stage) { s.change(s.open, posts.Fields{Visibility: ptr("private")}) }}, "other work"},
		"of another kind":          {[]func(*stage){func(s *stage) { s.change(s.open, posts.Fields{Kind: ptr("portfolio")}) }}, all},
		"of another kind, hidden":  {[]func(*stage){func(s *stage) { s.change(s.open, posts.Fields{Kind: ptr("portfolio"), Visibility: ptr("private")}) }}, "other work"},
		"deleted":                  {[]func(*stage){func(s *stage) { s.remove(s.author, s.open) }}, "other work"},
		"a private one deleted":    {[]func(*stage){func(s *stage) { s.remove(s.author, s.note) }}, all},
		"removed by an operator":   {[]func(*stage){func(s *stage) { s.ok(s.Operator.RemovePost(s.operator, s.work, "It is stolen.")) }}, "open other"},
		"closed":                   {[]func(*stage){(*stage).close}, "other"},
		"closed and open again":    {[]func(*stage){(*stage).close, (*stage).reopen}, all},
		"suspended":                {[]func(*stage){(*stage).suspend}, "other"},
		"suspended twice":          {[]func(*stage){(*stage).suspend, (*stage).suspend}, "other"},
		"reinstated":               {[]func(*stage){(*stage).suspend, (*stage).reinstate}, all},
		"closed, then suspended":   {[]func(*stage){(*stage).close, (*stage).suspend}, "other"},
		"reinstated, still closed": {[]func(*stage){(*stage).close, (*stage).suspend, (*stage).reinstate}, "other"},
		"open, still suspended":    {[]func(*stage){(*stage).close, (*stage).suspend, (*stage).reopen}, "other"},
		"everyone idle":            {[]func(*stage){(*stage).idle}, nothing},
		"restored from the trash":  {[]func(*stage){(*stage).idle, func(s *stage) { s.set("state = 'active'") }}, "open work"},
		"an agent deleted":         {[]func(*stage){func(s *stage) { s.set("state = 'deleted'") }}, "other"},
		"from trash to deleted":    {[]func(*stage){func(s *stage) { s.set("state = 'trash'") }, func(s *stage) { s.set("state = 'deleted'") }}, "other"},
		"deleted and restored":     {[]func(*stage){func(s *stage) { s.set("state = 'deleted'") }, func(s *stage) { s.set("state = 'active'") }}, all},
		"everyone suspended":       {[]func(*stage){func(s *stage) { s.Exec("UPDATE bots SET suspended_at = stoa_now()") }}, nothing},
		"one suspended, one closed": {[]func(*stage){func(s *stage) {
			s.Exec("UPDATE bots SET suspended_at = CASE WHEN id = $1 THEN stoa_now() END, profile_public = id = $1", s.author.ID)
		}}, nothing},
		"two change places": {[]func(*stage){(*stage).close, func(s *stage) {
			s.Exec("UPDATE bots SET profile_public = NOT profile_public")
		}}, "open work"},
		"published while closed": {[]func(*stage){(*stage).close, func(s *stage) { s.Exec("UPDATE posts SET visibility = 'public'") }}, "other"},
		"open with what was published": {[]func(*stage){
			(*stage).close, func(s *stage) { s.Exec("UPDATE posts SET visibility = 'public'") }, (*stage).reopen,
		}, "note open other work"},
		"open without what was hidden": {[]func(*stage){
			(*stage).close, func(s *stage) { s.change(s.open, posts.Fields{Visibility: ptr("private")}) }, func(s *stage) { s.remove(s.author, s.work) }, (*stage).reopen,
		}, "other"},
		"open with what changed kind": {[]func(*stage){
			(*stage).close, func(s *stage) { s.change(s.open, posts.Fields{Kind: ptr("portfolio")}) }, (*stage).reopen,
		}, all},
		"another time":   {[]func(*stage){func(s *stage) { s.Exec("UPDATE posts SET created_at = created_at - interval '1 day'") }}, all},
		"another id":     {[]func(*stage){func(s *stage) { s.Exec("UPDATE posts SET id = gen_random_uuid()") }}, all},
		"another author": {[]func(*stage){func(s *stage) { s.Exec("UPDATE posts SET author_id = $1", s.another.ID) }}, all},
		"another author, who is closed": {[]func(*stage){
			(*stage).close, func(s *stage) { s.Exec("UPDATE posts SET author_id = $1", s.author.ID) },
		}, nothing},
		"from an author who is closed": {[]func(*stage){
			(*stage).close, func(s *stage) { s.Exec("UPDATE posts SET author_id = $1", s.another.ID) },
		}, all},
		"gone for good": {[]func(*stage){func(s *stage) { s.Exec("DELETE FROM posts WHERE author_id = $1", s.author.ID) }}, "other"},
		"emptied":       {[]func(*stage){func(s *stage) { s.Exec("TRUNCATE posts") }}, nothing},
	} {
		for _, prolific := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, prolific %t", name, prolific), func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				if prolific {
					s.inlineLimit(1)
				}
				for _, change := range c.change {
					change(s)
					require.Zero(t, s.Count(unlike))
				}
				s.settle()
				require.Equal(t, c.want, s.listed())
			})
		}
	}
}

// inlineLimit makes every author with more posts than limit a prolific one.
func (w *world) inlineLimit(limit int) {
	w.t.Helper()
	w.Exec(fmt.Sprintf("CREATE OR REPLACE FUNCTION stoa_feed_inline_limit() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT %d'", limit))
}

// settle runs the job until the backlog is empty.
func (w *world) settle() {
	w.t.Helper()
	_, err := w.Posts.SettleFeed(context.Background())
	require.NoError(w.t, err)
	require.Zero(w.t, w.Count(unsettled))
}

// What does not matter to the feed does not touch it.
func TestWhatDoesNotTouchTheFeed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	rows := func() string {
		return s.text("SELECT string_agg(f.xmin::text || f.ctid::text, ' ' ORDER BY created_at) || count(*) FROM feed f")
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

// A row that should not be there, or is missing, is set right when its author is hidden and shown.
func TestFeedHeals(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Exec("DELETE FROM feed WHERE id = $1", s.open)
	s.close()
	s.reopen()
	require.Zero(t, s.Count(unlike))
	s.close()
	s.Exec("INSERT INTO feed SELECT created_at, id, author_id, kind FROM posts WHERE id = $1", s.work)
	s.reopen()
	require.Zero(t, s.Count(unlike))
}
