package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/feedback"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/posts"
	"stoa/graph/services"
)

const marker = "Quetzalcoatlus"

// removals are the records with texts that operators can remove, with the way to make and remove each.
var removals = map[string]struct {
	make   func(o *office, by *graphtest.Agent) uuid.UUID
	remove func(o *office, id uuid.UUID) error
	text   func(o *office, id uuid.UUID) (string, error)
}{
	"post": {
		func(o *office, by *graphtest.Agent) uuid.UUID { return o.Posted(by, marker, "public").ID },
		func(o *office, id uuid.UUID) error {
			_, err := o.Operator.RemovePost(o.ctx, id, nil, "why")
			return err
		},
		func(o *office, id uuid.UUID) (string, error) {
			p, err := o.DB.Ent.Post.Get(o.ctx, id)
			return p.Title + p.Text, err
		},
	},
	"service": {
		func(o *office, by *graphtest.Agent) uuid.UUID {
			made, err := o.Services.CreateService(by.Ctx, services.CreateServiceInput{Fields: services.Fields{
				Title: graphtest.Ptr(marker), Description: graphtest.Ptr(marker),
			}})
			require.NoError(o.t, err)
			return made.Service.ID
		},
		func(o *office, id uuid.UUID) error {
			_, err := o.Operator.RemoveService(o.ctx, id, nil, "why")
			return err
		},
		func(o *office, id uuid.UUID) (string, error) {
			s, err := o.DB.Ent.Service.Get(o.ctx, id)
			return s.Title + s.Description, err
		},
	},
	"task": {
		func(o *office, by *graphtest.Agent) uuid.UUID {
			id := o.Tasked(by, marker, marker, 1000).ID
			o.Responded(o.Agent(), id)
			o.Exec("UPDATE responses SET text = $1", marker)
			return id
		},
		func(o *office, id uuid.UUID) error {
			_, err := o.Operator.RemoveTask(o.ctx, id, nil, "why")
			return err
		},
		func(o *office, id uuid.UUID) (string, error) {
			t, err := o.DB.Ent.Task.Get(o.ctx, id)
			return t.Title + t.Description, err
		},
	},
}

// Records that an operator removed, one by one or in one act, can be read for 30 days; then the cleanup erases their texts.
func TestRemovedTextsGoAfterAWhile(t *testing.T) {
	t.Parallel()
	all := []operator.ContentKind{operator.ContentKindPosts, operator.ContentKindTasks, operator.ContentKindServices}
	for way, remove := range map[string]func(o *office, by *graphtest.Agent, ids map[string]uuid.UUID){
		"one by one": func(o *office, _ *graphtest.Agent, ids map[string]uuid.UUID) {
			for name, of := range removals {
				require.NoError(o.t, of.remove(o, ids[name]))
			}
		},
		"by their kinds": func(o *office, by *graphtest.Agent, _ map[string]uuid.UUID) {
			graphtest.OK(o.t)(o.Operator.RemoveContent(o.ctx, by.ID, all, nil, "spam"))
		},
		"in a case": func(o *office, by *graphtest.Agent, ids map[string]uuid.UUID) {
			for name := range removals {
				graphtest.OK(o.t)(o.Feedback.SendFeedback(o.Agent().Ctx, feedback.SendInput{
					Kind: graphtest.Ptr("report"), Text: graphtest.Ptr("Spam."), Subject: &feedback.SubjectInput{Type: &name, ID: graphtest.Ptr(ids[name].String())},
				}))
			}
			graphtest.OK(o.t)(o.Operator.ModerateBot(o.ctx, by.ID, true, true, true, true, nil, true, nil, nil, nil, "spam"))
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			by, ids := o.Agent(), map[string]uuid.UUID{}
			for name, of := range removals {
				ids[name] = of.make(o, by)
			}
			remove(o, by, ids)
			for _, passed := range []time.Duration{0, operator.RemovedRetention - time.Minute} {
				o.Shift(passed)
				require.Zero(t, graphtest.Got(o.Operator.EraseRemoved(context.Background()))(t))
			}
			for name, of := range removals {
				require.Contains(t, graphtest.Got(of.text(o, ids[name]))(t), marker, name)
			}
			o.Shift(2 * time.Minute)
			done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "a check"))(t)
			require.Contains(t, done.Swept, &operator.Swept{Name: "removed_texts", Deleted: 3})
			require.Empty(t, o.Traces(marker))
			for name, of := range removals {
				require.Empty(t, graphtest.Got(of.text(o, ids[name]))(t), name)
			}
		})
	}
}

// Servers of an earlier version kept the texts that agents deleted. The next cleanup erases them, however many they are.
func TestTextsThatEarlierVersionsKeptGo(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	agent := o.Agent()
	kept := o.Posted(agent, "as ever", "public")
	o.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, title, text, deleted_at)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, '', $2, stoa_now() FROM generate_series(1, 1201)`, agent.ID, marker)
	o.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description, deleted_at)
		VALUES (gen_random_uuid(), stoa_now(), stoa_now(), $1, $2, $2, stoa_now())`, agent.ID, marker)
	erased := graphtest.Got(o.Operator.EraseRemoved(context.Background()))(t)
	require.EqualValues(t, 1202, erased)
	require.Empty(t, o.Traces(marker))
	post := graphtest.Got(o.Posts.Post(agent.Ctx, posts.PostInput{PostID: kept.ID.String()}))(t)
	require.Equal(t, "as ever", post.Post.Text)
}
