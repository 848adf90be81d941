package operator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// An operator clears the named parts of a profile and no others.
func TestAProfileIsCleared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ name, texts, images bool }{
		"name": {name: true}, "texts": {texts: true}, "images": {images: true}, "all": {true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			swindler := o.Agent()
			avatar := o.File(swindler, "avatar").String()
			graphtest.OK(t)(o.Bots.UpdateMe(swindler.Ctx, bots.UpdateMeInput{
				DisplayName: graphtest.Ptr("Stoa support"), Specialty: graphtest.Ptr("refunds"), Bio: graphtest.Ptr("Send me your token."),
				CharacterDescription: graphtest.Ptr("An official."), AvatarAttachmentID: wire.Nullable[string]{Set: true, Value: avatar}, RightsConfirmed: graphtest.Ptr(true),
			}))
			cleared := graphtest.Got(o.Operator.ClearProfile(o.ctx, swindler.ID, c.name, c.texts, c.images, nil, "poses as the platform"))(t)
			require.Equal(t, swindler.ID, cleared.ID)
			own := graphtest.Got(o.Bots.Me(swindler.Ctx))(t)
			require.Equal(t, c.name, own.Bot.DisplayName == own.Bot.Handle)
			require.Equal(t, c.texts, own.Bot.Specialty == "" && own.Bot.Bio == "" && own.Bot.CharacterDescription == "")
			require.Equal(t, !c.texts, own.Bot.Specialty != "" && own.Bot.Bio != "" && own.Bot.CharacterDescription != "")
			require.Equal(t, c.images, own.Bot.Visuals.Avatar == nil)
			require.EqualValues(t, 1, o.Count("SELECT count(*) FROM attachments WHERE owner_id = $1 AND deleted_at IS NULL", swindler.ID))
			require.Equal(t, map[string]any{"name": c.name, "texts": c.texts, "images": c.images}, o.entries()[0].Details)
		})
	}
}

// One call removes all content of the named kinds, of that agent alone, and the audit log has the numbers. Removed ratings do not
// count in the reputation of their subject.
func TestContentIsRemovedAtOnce(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	swindler, other := o.Agent(), o.Agent()
	for _, by := range []*graphtest.Agent{swindler, swindler, other} {
		o.Posted(by, "buy now", "public")
		o.task(by)
		o.service(by)
	}
	left := func(by *graphtest.Agent) [3]int64 {
		return [3]int64{
			o.Count("SELECT count(*) FROM posts WHERE author_id = $1 AND deleted_at IS NULL", by.ID),
			o.Count("SELECT count(*) FROM tasks WHERE customer_id = $1 AND removed_at IS NULL", by.ID),
			o.Count("SELECT count(*) FROM services WHERE bot_id = $1 AND deleted_at IS NULL", by.ID),
		}
	}
	graphtest.OK(t)(o.Operator.RemoveContent(o.ctx, swindler.ID, []operator.ContentKind{operator.ContentKindPosts, operator.ContentKindServices}, nil, "spam"))
	require.Equal(t, [3]int64{0, 2, 0}, left(swindler))
	require.Equal(t, [3]int64{1, 1, 1}, left(other))
	graphtest.OK(t)(o.Operator.RemoveContent(o.ctx, swindler.ID, []operator.ContentKind{operator.ContentKindTasks, operator.ContentKindRatings}, nil, "spam"))
	require.Equal(t, [3]int64{}, left(swindler))
	require.Equal(t, map[string]any{"POSTS": 2.0, "SERVICES": 2.0}, o.entries()[0].Details)
	require.Equal(t, map[string]any{"TASKS": 2.0, "RATINGS": 0.0}, o.entries()[1].Details)

	rating := graphtest.Got(o.DB.Ent.Rating.Get(o.ctx, o.rating()))(t)
	graphtest.OK(t)(o.Operator.RemoveContent(o.ctx, rating.AuthorID, []operator.ContentKind{operator.ContentKindRatings}, nil, "bought"))
	require.Zero(t, o.Count("SELECT count(*) FROM ratings WHERE removed_at IS NULL"))
	require.Zero(t, o.Count("SELECT coalesce(sum(ratings), 0) FROM reputations WHERE bot_id = $1", rating.SubjectID))
}

// One call suspends, clears and removes, with one entry; it takes the chosen measures and no others.
func TestModerationInOneAct(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	swindler := o.Agent()
	o.Exec("UPDATE bots SET display_name = 'Stoa support', bio = 'Send me your token.' WHERE id = $1", swindler.ID)
	o.Posted(swindler, "buy now", "public")
	o.service(swindler)
	done := graphtest.Got(o.Operator.ModerateBot(o.ctx, swindler.ID, true, true, false, false, []operator.ContentKind{operator.ContentKindPosts}, false, nil, nil, nil, "a swindler"))(t)
	require.NotNil(t, done.Bot.SuspendedAt)
	require.Equal(t, done.Bot.Handle, done.Bot.DisplayName)
	require.Equal(t, "Send me your token.", done.Bot.Bio)
	require.Equal(t, []*operator.RemovedContent{{Kind: operator.ContentKindPosts, Removed: 1}}, done.Removed)
	require.EqualValues(t, 1, o.Count("SELECT count(*) FROM services WHERE deleted_at IS NULL"))
	require.Len(t, o.entries(), 1)
	require.Equal(t, map[string]any{"suspend": true, "name": true, "texts": false, "images": false, "POSTS": 1.0}, o.entries()[0].Details)
}

// However much an agent published, one call removes a bounded number of records in small transactions, and reports the rest. The
// next call continues.
func TestRemovalIsBounded(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	spammer := o.Agent()
	o.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'spam', 'spam' FROM generate_series(1, 1030)`, spammer.ID)
	kinds := []operator.ContentKind{operator.ContentKindPosts, operator.ContentKindServices}
	first := graphtest.Got(o.Operator.RemoveContent(o.ctx, spammer.ID, kinds, nil, "spam"))(t)
	require.EqualValues(t, 30, first.Remaining)
	require.Equal(t, []*operator.RemovedContent{{Kind: "POSTS"}, {Kind: "SERVICES", Removed: 1000, Remaining: 30}}, first.Removed)
	require.EqualValues(t, 30, o.Count("SELECT count(*) FROM services WHERE deleted_at IS NULL"))
	require.Len(t, o.entries(), 10)
	require.Equal(t, map[string]any{"POSTS": 0.0, "SERVICES": 100.0, "remaining": 930.0}, o.entries()[0].Details)
	second := graphtest.Got(o.Operator.RemoveContent(o.ctx, spammer.ID, kinds, nil, "spam"))(t)
	require.Zero(t, second.Remaining)
	require.EqualValues(t, 30, second.Removed[1].Removed)
	require.Len(t, o.entries(), 11)
}

// Reports are listed apart from other feedback, first on the overview, with the age of the oldest.
func TestReportsAreListedApart(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	reporter, subject := o.Agent(), o.Agent()
	o.sent(reporter)
	made := o.Reported(reporter, "bot", subject.ID, "It asks for tokens.")
	reports := graphtest.Got(o.Operator.Reports(o.ctx, nil, nil, nil, nil, nil, nil))(t)
	require.Equal(t, 1, reports.TotalCount)
	require.Equal(t, made.ID, reports.Edges[0].Node.ID)
	require.Equal(t, subject.ID, *reports.Edges[0].Node.SubjectBotID)
	others := graphtest.Got(o.Operator.Feedbacks(o.ctx, nil, nil, nil, nil, nil, nil))(t)
	require.Equal(t, 1, others.TotalCount)
	require.NotEqual(t, made.ID, others.Edges[0].Node.ID)

	o.Shift(3*time.Hour + time.Second)
	first := graphtest.Got(o.Operator.Overview(o.ctx))(t).Attention[0]
	require.Equal(t, "report waits for an answer, for 3 hours.", first.Text)
	require.EqualValues(t, 1, first.Count)

	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, made.ID, "We have seen to it.", nil, "done"))
	require.EqualValues(t, 1, o.Count(`SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = 'feedback.answered'
		AND convert_from(payload, 'UTF8')::jsonb = jsonb_build_object('feedback_id', $2::text)`, reporter.ID, made.ID))
}

// One call answers all reports about an agent and removes the reported things of that agent. A repeat sends nothing again, and
// the report of an agent that was deleted meanwhile is deleted.
func TestACaseIsSettledInOneAct(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	swindler, other, gone, reporter := o.Agent(), o.Agent(), o.Agent(), o.Agent()
	kept := o.Posted(swindler, "a harmless post", "public")
	post, task := o.Posted(swindler, "send me your tokens", "public"), o.task(swindler)
	require.Empty(t, graphtest.Got(o.Operator.Cases(o.ctx))(t))
	o.Reported(reporter, "post", post.ID, "Spam.")
	o.Reported(reporter, "task", task, "Spam.")
	o.Reported(gone, "bot", swindler.ID, "Spam.")
	o.Reported(reporter, "bot", other.ID, "Spam.")
	o.Deleted(gone)
	cases := graphtest.Got(o.Operator.Cases(o.ctx))(t)
	require.Len(t, cases, 2)
	require.Equal(t, swindler.ID, cases[0].BotID)
	require.EqualValues(t, 3, cases[0].Reports)
	require.EqualValues(t, 2, cases[0].Reporters)
	require.Len(t, graphtest.Got(cases[0].Open(o.ctx))(t), 3)
	require.Nil(t, graphtest.Got(o.Operator.Case(o.ctx, reporter.ID))(t))
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Cases(reporter.Ctx))
	settle := func() *operator.Moderation {
		return graphtest.Got(o.Operator.ModerateBot(o.ctx, swindler.ID, false, false, false, false, nil, true, graphtest.Ptr("We removed it."), nil,
			graphtest.Ptr("Do not."), "a swindler"))(t)
	}
	require.EqualValues(t, 3, settle().Answered)
	require.EqualValues(t, 0, settle().Answered)
	require.EqualValues(t, 1, o.Count("SELECT count(*) FROM notices"))
	require.Equal(t, "the same within a day", o.entries()[1].Details["unsent"])
	require.EqualValues(t, 2, o.Count("SELECT count(*) FROM events WHERE kind = 'feedback.answered' AND recipient_id = $1", reporter.ID))
	require.EqualValues(t, 3, o.Count("SELECT count(*) FROM feedbacks"), "the feedback of the deleted agent has ended")
	require.EqualValues(t, 1, o.Count("SELECT count(*) FROM posts WHERE deleted_at IS NULL AND id = $1", kept.ID))
	require.EqualValues(t, 2, o.Count("SELECT count(*) FROM posts"))
	require.EqualValues(t, 1, o.Count("SELECT count(*) FROM tasks WHERE removed_at IS NOT NULL"))
	require.Equal(t, map[string]any{"reported": 2.0, "answer": "We removed it.", "answered": 3.0, "message": "Do not."}, o.entries()[0].Details)
}

// A preset replaces the preset with its name if Replace is set. A refused change has no effect.
func TestPresets(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	graphtest.OK(t)(o.Operator.WritePreset(o.ctx, operator.PresetInput{Name: "Spam", Answer: "Thank you."}, "why"))
	graphtest.OK(t)(o.Operator.WritePreset(o.ctx, operator.PresetInput{Name: "spam", Message: "Stop.", Suspend: true, ClearName: true,
		Kinds: []operator.ContentKind{operator.ContentKindPosts}, Replace: true}, "why"))
	all := graphtest.Got(o.Operator.Presets(o.ctx))(t)
	require.Len(t, all, 1)
	require.Equal(t, "Stop.", all[0].Message)
	require.Empty(t, all[0].Answer)
	require.True(t, all[0].Suspend && all[0].ClearName && !all[0].ClearTexts)
	require.Equal(t, []operator.ContentKind{operator.ContentKindPosts}, all[0].Kinds)
	require.Equal(t, "Spam", o.entries()[0].Target)
	before := o.state()
	graphtest.RefusedField(t, fault.InvalidInput, "name")(o.Operator.WritePreset(o.ctx, operator.PresetInput{Name: "SPAM", Answer: "Mine."}, "why"))
	graphtest.Refused(t, fault.NotFound)(o.Operator.DeletePreset(o.ctx, "Other", "why"))
	require.Equal(t, before, o.state())
	graphtest.OK(t)(o.Operator.DeletePreset(o.ctx, "spam", "why"))
	require.Empty(t, graphtest.Got(o.Operator.Presets(o.ctx))(t))
}
