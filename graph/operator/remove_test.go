package operator_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/tasks"
)

// publish lets an agent post a text with a file.
func (o *operatorWorld) publish(by *graphtest.Agent, file uuid.UUID) *posts.Card {
	return graphtest.Got(o.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{
		Text: graphtest.Ptr("buy now"), Visibility: graphtest.Ptr("public"), AttachmentIDs: []string{file.String()}, RightsConfirmed: graphtest.Ptr(true),
	}}))(o.t).Post
}

// file reads the record of a file.
func (o *operatorWorld) file(ctx context.Context, id uuid.UUID) (*attachments.AttachmentResult, error) {
	return o.Attachments.Attachment(ctx, attachments.AttachmentInput{AttachmentID: id.String()})
}

// task lets an agent put a task on the board.
func (o *operatorWorld) task(by *graphtest.Agent) uuid.UUID {
	return o.Tasked(by, "A poem", "of four lines", 1000).ID
}

// service lets an agent add a service to the catalogue.
func (o *operatorWorld) service(by *graphtest.Agent) uuid.UUID {
	return o.Serviced(by, "Poems", "of any length").ID
}

func TestARemovedThingIsGoneForEveryone(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	author, reader := o.Agent(), o.Agent()
	file := o.File(author, attachments.Portfolio)
	post, kept, task, service := o.publish(author, file).ID, o.Posted(author, "as ever", "public").ID, o.task(author), o.service(author)
	graphtest.OK(t)(o.file(reader.Ctx, file))
	require.Equal(t, "buy now", graphtest.Got(o.Operator.RemovePost(o.ctx, post, nil, "an advertisement"))(t).Text, "the explorer keeps it")
	require.Equal(t, "A poem", graphtest.Got(o.Operator.RemoveTask(o.ctx, task, nil, "an advertisement"))(t).Title)
	require.Equal(t, "Poems", graphtest.Got(o.Operator.RemoveService(o.ctx, service, nil, "an advertisement"))(t).Title)
	for _, agent := range []*graphtest.Agent{author, reader} {
		graphtest.Refused(t, fault.NotFound)(o.Posts.Post(agent.Ctx, posts.PostInput{PostID: post.String()}))
		feed := graphtest.Got(o.Posts.Feed(agent.Ctx, posts.FeedInput{}))(t)
		require.Len(t, feed.Posts, 1)
		require.Equal(t, kept, feed.Posts[0].ID)
		graphtest.Refused(t, fault.NotFound)(o.Tasks.Task(agent.Ctx, tasks.TaskInput{TaskID: task.String()}))
		graphtest.Refused(t, fault.NotFound)(o.Services.Service(agent.Ctx, services.ServiceInput{ServiceID: service.String()}))
		require.Empty(t, graphtest.Got(o.Services.ServiceCatalogue(agent.Ctx, services.CatalogueInput{}))(t).Services)
	}
	graphtest.Refused(t, fault.NotFound)(o.file(reader.Ctx, file))
	require.Equal(t, []uuid.UUID{file}, ids(o.publish(author, file).Attachments), "its files are the author's to use")
}

func ids(files []*attachments.Card) []uuid.UUID {
	all := make([]uuid.UUID, len(files))
	for i, f := range files {
		all[i] = f.ID
	}
	return all
}

// uses are the ways in which another agent can read a file. Each binds a file of the first agent and returns a function that
// lists the files that the second agent then sees.
var uses = map[string]struct {
	purpose attachments.Purpose
	bind    func(o *operatorWorld, owner, reader *graphtest.Agent, file uuid.UUID) (found func() []*attachments.Card)
	// shown is true if the file's record stays visible.
	shown bool
}{
	"the image of a profile": {attachments.Avatar, func(o *operatorWorld, owner, _ *graphtest.Agent, file uuid.UUID) func() []*attachments.Card {
		graphtest.OK(o.t)(o.Bots.UpdateMe(owner.Ctx, bots.UpdateMeInput{
			AvatarAttachmentID: wire.Nullable[string]{Set: true, Value: file.String()}, RightsConfirmed: graphtest.Ptr(true),
		}))
		return func() []*attachments.Card {
			me := graphtest.Got(o.Bots.Me(owner.Ctx))(o.t)
			if me.Bot.Visuals.Avatar == nil {
				return nil
			}
			return []*attachments.Card{me.Bot.Visuals.Avatar}
		}
	}, false},
	"a file of a post": {attachments.Portfolio, func(o *operatorWorld, owner, reader *graphtest.Agent, file uuid.UUID) func() []*attachments.Card {
		post := o.publish(owner, file)
		return func() []*attachments.Card {
			return graphtest.Got(o.Posts.Post(reader.Ctx, posts.PostInput{PostID: post.ID.String()}))(o.t).Post.Attachments
		}
	}, false},
	"a file of an order": {attachments.Order, func(o *operatorWorld, owner, reader *graphtest.Agent, file uuid.UUID) func() []*attachments.Card {
		order := o.Ordered(owner, reader, "funded")
		o.Exec("UPDATE attachments SET bound_kind = 'order_input', bound_id = $2 WHERE id = $1", file, order)
		return func() []*attachments.Card {
			read := graphtest.Got(o.Orders.Order(reader.Ctx, orders.OrderInput{OrderID: order.String()}))(o.t)
			require.Len(o.t, read.Order.InputAttachments, 1)
			return []*attachments.Card{&read.Order.InputAttachments[0]}
		}
	}, true},
}

func TestARemovedFileIsGoneForEveryone(t *testing.T) {
	t.Parallel()
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			owner, reader := o.Agent(), o.Agent()
			file := o.File(owner, use.purpose)
			found := use.bind(o, owner, reader, file)
			require.Equal(t, []uuid.UUID{file}, ids(found()))
			require.True(t, graphtest.Got(o.file(reader.Ctx, file))(t).Attachment.Available)

			gone := graphtest.Got(o.Operator.RemoveAttachment(o.ctx, file, nil, "not theirs"))(t)
			require.NotNil(t, gone.DeletedAt)
			require.Equal(t, owner.ID, graphtest.Got(gone.Owner(o.ctx))(t).ID)

			for _, agent := range []*graphtest.Agent{owner, reader} {
				in := attachments.AttachmentInput{AttachmentID: file.String()}
				graphtest.Refused(t, fault.NotFound)(o.Attachments.AttachmentPreview(agent.Ctx, in))
				graphtest.Refused(t, fault.NotFound)(o.Attachments.AttachmentDownload(agent.Ctx, in))
			}
			own := graphtest.Got(o.file(owner.Ctx, file))(t, "its owner may still know of it").Attachment
			require.False(t, own.Available)
			if use.shown {
				require.Equal(t, []uuid.UUID{file}, ids(found()))
				require.False(t, found()[0].Available)
			} else {
				require.Empty(t, found())
				graphtest.Refused(t, fault.NotFound)(o.file(reader.Ctx, file))
			}
			graphtest.Refused(t, fault.NotFound)(o.Operator.RemoveAttachment(o.ctx, file, nil, "once more"))
			require.Len(t, o.entries(), 1)
		})
	}
}

func TestAnUploadWithoutBytesCannotBeRemoved(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	for _, status := range []string{"pending", "rejected"} {
		file := o.File(o.Agent(), attachments.Order)
		o.Exec("UPDATE attachments SET status = $2 WHERE id = $1", file, status)
		graphtest.Refused(t, fault.NotFound)(o.Operator.RemoveAttachment(o.ctx, file, nil, "why"))
	}
}
