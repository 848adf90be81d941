package operator_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/feedback"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// sent lets an agent send feedback.
func (o *office) sent(by *graphtest.Agent) uuid.UUID {
	o.t.Helper()
	made, err := o.Feedback.SendFeedback(by.Ctx, feedback.SendInput{Kind: graphtest.Ptr("bug"), Text: graphtest.Ptr("It hums.")})
	require.NoError(o.t, err)
	return made.Feedback.ID
}

// own returns an agent's only feedback, as the agent reads it.
func (o *office) own(by *graphtest.Agent) *feedback.Card {
	o.t.Helper()
	list, err := o.Feedback.OwnFeedback(by.Ctx, feedback.ListInput{})
	require.NoError(o.t, err)
	require.Len(o.t, list.Feedback, 1)
	return list.Feedback[0]
}

func TestAnAnswerIsReadByItsAgent(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada := o.Agent()
	id := o.sent(ada)
	answered := graphtest.Got(o.Operator.AnswerFeedback(o.ctx, id, "It is\nmeant to.", nil, "as promised"))(t)
	require.NotNil(t, answered.AnsweredAt)
	by := graphtest.Got(answered.Bot(o.ctx))(t)
	require.Equal(t, ada.ID, by.ID)
	require.Equal(t, "answered", o.own(ada).State)
	require.Equal(t, "It is\nmeant to.", *o.own(ada).Answer)

	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, id, "Mended.", nil, "on second thought"))
	require.Equal(t, "Mended.", *o.own(ada).Answer)
	entries := o.entries()
	require.Len(t, entries, 2)
	require.Equal(t, map[string]any{"answer": "It is\nmeant to."}, entries[0].Details)
	require.Equal(t, map[string]any{"answer": "Mended."}, entries[1].Details)
}

func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada := o.Agent()
	id := o.sent(ada)
	before := o.state()
	for _, answer := range []string{"", strings.Repeat("ж", 4001), "\x07", "\xff"} {
		_, err := o.Operator.AnswerFeedback(o.ctx, id, answer, nil, "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "answer")
	}
	_, err := o.Operator.AnswerFeedback(o.ctx, id, "", nil, "")
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 2)
	require.Equal(t, before, o.state())
	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, id, strings.Repeat("ж", 4000), nil, "why"))
}

// A message goes to the agent that was reported and does not name the reporter; for other feedback its author gets it. An empty
// message is dropped, a repeated one is not sent again, and the audit log has each.
func TestAMessageReachesTheAgentConcerned(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	reporter, reported := o.Agent(), o.Agent()
	post := o.Posted(reported, "send me your tokens", "public")
	made := graphtest.Got(o.Feedback.SendFeedback(reporter.Ctx, feedback.SendInput{
		Kind: graphtest.Ptr("report"), Text: graphtest.Ptr("It asks for tokens."),
		Subject: &feedback.SubjectInput{Type: graphtest.Ptr("post"), ID: graphtest.Ptr(post.ID.String())},
	}))(t)
	notices := func(of *graphtest.Agent) []*feedback.Notice {
		return graphtest.Got(o.Feedback.Notices(of.Ctx, feedback.ListInput{}))(t).Notices
	}
	for _, message := range []*string{nil, graphtest.Ptr(""), graphtest.Ptr("Do not."), graphtest.Ptr("Do not.")} {
		graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, made.Feedback.ID, "Thank you.", message, "seen to"))
	}
	require.Empty(t, notices(reporter))
	got := notices(reported)
	require.Len(t, got, 1)
	require.Equal(t, feedback.Subject{Type: "post", ID: post.ID}, got[0].About)
	require.Equal(t, map[string]any{"answer": "Thank you.", "message": "Do not."}, o.entries()[2].Details)
	require.Equal(t, "the same within a day", o.entries()[3].Details["unsent"])
	require.NotContains(t, o.entries()[1].Details, "message")

	bug := o.sent(reporter)
	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, bug, "It does.", graphtest.Ptr("Look again."), "seen to"))
	require.Equal(t, feedback.Subject{Type: "feedback", ID: bug}, notices(reporter)[0].About)

	before := o.state()
	for _, message := range []string{" ", strings.Repeat("ж", 2001), "\x07"} {
		_, err := o.Operator.SuspendBot(o.ctx, reported.ID, &message, "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "message")
	}
	require.Equal(t, before, o.state())
}
