package posts_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
)

// Concurrent changes of a post and its author wait for each other, and the second sees the first.
func TestConcurrentChangesOfPostAndAuthor(t *testing.T) {
	t.Parallel()
	ofAuthor := map[string]string{
		"closes":       "UPDATE bots SET profile_public = false WHERE id = $1",
		"opens":        "UPDATE bots SET profile_public = true WHERE id = $1",
		"is suspended": "UPDATE bots SET suspended_at = stoa_now() WHERE id = $1",
	}
	ofPost := map[string]string{
		"comes": `INSERT INTO posts (id, created_at, updated_at, visibility, text, author_id)
			VALUES (gen_random_uuid(), stoa_now(), stoa_now(), 'public', 'new', $1)`,
		"is published": "UPDATE posts SET visibility = 'public' WHERE author_id = $1 AND text = 'note'",
		"is hidden":    "UPDATE posts SET visibility = 'private' WHERE author_id = $1 AND text = 'open'",
		"turns":        "UPDATE posts SET kind = 'portfolio' WHERE author_id = $1 AND text = 'open'",
		"is deleted":   "UPDATE posts SET deleted_at = stoa_now() WHERE author_id = $1 AND text = 'open'",
		"goes":         "DELETE FROM posts WHERE author_id = $1 AND text = 'open'",
	}
	w := newWorld(t)
	w.inlineLimit(1) // the races of a prolific author; other authors use the same statements
	for author, change := range ofAuthor {
		for post, write := range ofPost {
			for name, order := range map[string][2]string{
				"an agent " + author + ", a post " + post: {change, write},
				"a post " + post + ", an agent " + author: {write, change},
			} {
				t.Run(name, func(t *testing.T) {
					s := w.fixture()
					if author == "opens" {
						s.close()
					}
					commit := s.Hold(order[0], s.author.ID)
					done := make(chan error, 1)
					go func() { done <- graphtest.Err(s.DB.SQL.Pool.Exec(order[1], s.author.ID)) }()
					s.AwaitLocks(1)
					commit()
					require.NoError(t, <-done)
					require.Zero(t, s.Count(feedDifference))
					s.settle()
				})
			}
		}
	}
}

// Deleting a post locks its author's row before its files, like every other change.
func TestDeletionLocksTheAuthorFirst(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	file := s.File(s.author, attachments.Portfolio)
	s.change(s.open, posts.Fields{AttachmentIDs: texts(file), RightsConfirmed: yes})
	holder := graphtest.Got(s.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	defer holder.Rollback()
	graphtest.OK(t)(holder.Exec("SELECT FROM bots WHERE id = $1 FOR NO KEY UPDATE", s.author.ID))
	done := make(chan error, 1)
	go func() {
		done <- graphtest.Err(s.Posts.DeletePost(s.author.Ctx, posts.PostInput{PostID: s.open.String()}))
	}()
	s.AwaitLocks(1)
	graphtest.OK(t)(holder.Exec("SELECT FROM attachments WHERE id = $1 FOR UPDATE NOWAIT", file))
	require.NoError(t, holder.Commit())
	require.NoError(t, <-done)
}

// A new public work waits for a concurrent deletion of the only other one, so the profile has a work afterwards.
func TestANewWorkWaitsForADeletion(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	work := posts.Fields{Kind: ptr("portfolio"), Visibility: ptr("public")}
	only := graphtest.Got(s.create(s.author, work))(t).Post
	const lacks = "SELECT count(*) FROM recommendations WHERE bot_id = $1 AND 'public_portfolio_post' = ANY (lacks)"
	require.Zero(t, s.Count(lacks, s.author.ID))
	first := graphtest.Got(s.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	defer first.Rollback()
	graphtest.OK(t)(first.Exec("UPDATE posts SET deleted_at = stoa_now() WHERE id = $1", only.ID))
	graphtest.OK(t)(first.Exec("SELECT stoa_profile_changed($1)", s.author.ID))
	done := make(chan error, 1)
	go func() { done <- graphtest.Err(s.create(s.author, work)) }()
	s.AwaitLocks(1)
	require.NoError(t, first.Commit())
	require.NoError(t, <-done)
	require.Zero(t, s.Count(lacks, s.author.ID))
}

// A change of an agent's row does not block foreign keys that refer to it: they would be locked in another order, and deadlock.
// Each change is stopped after it has locked the agent's row, and meanwhile the agent's drafts and their files change.
func TestForeignKeysDoNotWaitForAChangeOfTheAuthor(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	avatar := s.File(s.author, attachments.Avatar)
	for name, c := range map[string]struct {
		stop   string
		change func() error
	}{
		"its profile changes": {"SELECT FROM attachments WHERE purpose = 'avatar' FOR UPDATE", func() error {
			image := wire.Nullable[string]{Set: true, Value: avatar.String()}
			return graphtest.Err(s.Bots.UpdateMe(s.author.Ctx, bots.UpdateMeInput{AvatarAttachmentID: image, RightsConfirmed: yes}))
		}},
		"it is suspended": {"LOCK TABLE audit_entries", func() error {
			return graphtest.Err(s.Operator.SuspendBot(s.operator, s.author.ID, nil, "a reason"))
		}},
		"its token is reissued": {"LOCK TABLE audit_entries", func() error {
			return graphtest.Err(s.Operator.ReissueToken(s.operator, s.author.ID, "a reason"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			draft := graphtest.Got(s.create(s.author, posts.Fields{}))(t).Post
			commit := s.Hold(c.stop)
			done := make(chan error, 1)
			go func() { done <- c.change() }()
			s.AwaitLocks(1)
			file := texts(s.File(s.author, attachments.Portfolio))
			graphtest.OK(t)(s.update(s.author, draft.ID, posts.Fields{AttachmentIDs: file, RightsConfirmed: yes}))
			commit()
			require.NoError(t, <-done)
		})
	}
}

// Concurrent actions of agents, operators and sweeps never deadlock, and in the end the feed matches its definition.
func TestFeedMatchesDefinitionAfterConcurrentWrites(t *testing.T) {
	t.Parallel()
	const writers, each, sweeps = 8, 40, 12
	s, ctx := newFixture(t), context.Background()
	s.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now() - interval '1 year'")
	type author struct {
		*graphtest.Agent
		posts, files []uuid.UUID
	}
	authors := make([]author, 3)
	for i := range authors {
		agent := s.Agent()
		authors[i] = author{Agent: agent, files: []uuid.UUID{
			s.File(agent, attachments.Portfolio), s.File(agent, attachments.Portfolio), s.File(agent, attachments.Avatar),
		}}
		for range 20 {
			authors[i].posts = append(authors[i].posts, s.Posted(agent, "first", "public").ID)
		}
	}
	one := func(of []uuid.UUID) uuid.UUID { return of[rand.IntN(len(of))] }
	fields := func(a author) posts.Fields {
		f := posts.Fields{Text: ptr("text"), RightsConfirmed: yes}
		if rand.IntN(2) == 0 {
			f.Kind = ptr([]string{"update", "portfolio"}[rand.IntN(2)])
		}
		if rand.IntN(3) > 0 {
			f.Visibility = ptr([]string{"public", "private"}[rand.IntN(2)])
		}
		if rand.IntN(3) == 0 {
			f.AttachmentIDs = texts(one(a.files))
		}
		return f
	}
	create := func(a author) error { return graphtest.Err(s.create(a.Agent, fields(a))) }
	update := func(a author) error { return graphtest.Err(s.update(a.Agent, one(a.posts), fields(a))) }
	show := func(a author) error {
		in := bots.UpdateMeInput{ProfilePublic: graphtest.Ptr(rand.IntN(2) == 0), RightsConfirmed: yes}
		if image := rand.IntN(4); image < 2 {
			in.AvatarAttachmentID = wire.Nullable[string]{Set: true, Null: image == 0, Value: one(a.files).String()}
		}
		return graphtest.Err(s.Bots.UpdateMe(a.Ctx, in))
	}
	reinstate := func(a author) error { return graphtest.Err(s.Operator.ReinstateBot(s.operator, a.ID, "a reason")) }
	acts := []func(author) error{
		create, create, update, update, show, show, show, reinstate, reinstate,
		func(a author) error {
			return graphtest.Err(s.Posts.DeletePost(a.Ctx, posts.PostInput{PostID: one(a.posts).String()}))
		},
		func(a author) error {
			return graphtest.Err(s.Operator.RemovePost(s.operator, one(a.posts), nil, "a reason"))
		},
		func(a author) error { return graphtest.Err(s.Operator.SuspendBot(s.operator, a.ID, nil, "a reason")) },
		func(a author) error { return s.Auth.NoteActivity(ctx, []uuid.UUID{a.ID}) },
		func(a author) error { return graphtest.Err(s.Posts.Feed(a.Ctx, posts.FeedInput{})) },
	}
	refusals := []fault.Code{
		"", fault.NotFound, fault.InvalidVisibility, fault.InactiveBot, fault.InvalidAttachment, fault.AttachmentAlreadyBound,
		fault.StateConflict,
	}
	const deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
	before := s.Count(deadlocks)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				err := acts[rand.IntN(len(acts))](authors[rand.IntN(len(authors))])
				assert.Contains(t, refusals, fault.CodeOf(err), "%v", err)
			}
		})
	}
	group.Go(func() { // all agents out of the trash, idle for a year, and into it again
		for range sweeps {
			_, err := s.DB.SQL.ExecContext(ctx, "UPDATE bots SET state = 'active', last_active_at = stoa_now() - interval '1 year'")
			assert.NoError(t, errors.Join(err, graphtest.Err(s.Bots.Trash(ctx))))
		}
	})
	group.Wait()
	require.Zero(t, s.Count(feedDifference))
	s.DB.SQL.Pool.SetMaxIdleConns(0) // a connection reports its deadlocks when it ends
	require.Eventually(t, func() bool {
		return s.Count(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'stoa' AND pid <> pg_backend_pid()`) == 0
	}, slack.TestWait, 10*time.Millisecond)
	require.Equal(t, before, s.Count(deadlocks))
}
