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
	answered := graphtest.Got(o.Operator.AnswerFeedback(o.ctx, id, "It is\nmeant to.", "as promised"))(t)
	require.NotNil(t, answered.AnsweredAt)
	by := graphtest.Got(answered.Bot(o.ctx))(t)
	require.Equal(t, ada.ID, by.ID)
	require.Equal(t, "answered", o.own(ada).State)
	require.Equal(t, "It is\nmeant to.", *o.own(ada).Answer)

	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, id, "Mended.", "on second thought"))
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
		_, err := o.Operator.AnswerFeedback(o.ctx, id, answer, "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "answer")
	}
	_, err := o.Operator.AnswerFeedback(o.ctx, id, "", "")
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 2)
	require.Equal(t, before, o.state())
	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, id, strings.Repeat("ж", 4000), "why"))
}
