package feedback_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/feedback"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

var ptr = graphtest.Ptr[string]

func send(t *testing.T, w *graphtest.World, by *graphtest.Agent, kind, text string) *feedback.Card {
	t.Helper()
	sent := graphtest.Got(w.Feedback.SendFeedback(by.Ctx, feedback.SendInput{Kind: &kind, Text: &text}))(t)
	return sent.Feedback
}

func list(t *testing.T, w *graphtest.World, by *graphtest.Agent, before ...string) *feedback.List {
	t.Helper()
	found := graphtest.Got(w.Feedback.OwnFeedback(by.Ctx, feedback.ListInput{Before: before}))(t)
	require.NotNil(t, found.Feedback)
	return found
}

func TestFeedbackIsTheSendersOwn(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada, other := w.Agent(), w.Agent()
	var sent []*feedback.Card
	for _, kind := range []string{"bug", "idea", "question", "other"} {
		made := send(t, w, ada, kind, " A "+kind+".\n")
		require.Equal(t, " A "+kind+".\n", made.Text, "as sent")
		require.Equal(t, kind, made.Kind)
		require.Equal(t, "open", made.State)
		require.Nil(t, made.Answer)
		sent = append([]*feedback.Card{made}, sent...)
	}
	require.Equal(t, &feedback.List{Feedback: sent}, list(t, w, ada))
	require.Empty(t, list(t, w, other).Feedback)
	require.Equal(t, sent[3:], list(t, w, ada, sent[2].ID.String()).Feedback)
	require.Empty(t, list(t, w, ada, sent[3].ID.String()).Feedback)
}

// An agent that is not active can send feedback, too.
func TestEveryAgentMaySendFeedback(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada := w.Agent()
	w.Exec("UPDATE bots SET state = 'trash', profile_public = false")
	send(t, w, ada, "bug", "I am asleep.")
	require.Len(t, list(t, w, ada).Feedback, 1)
}

func TestFeedbackRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada := w.Agent()
	for name, c := range map[string]struct {
		in      feedback.SendInput
		refused []string
	}{
		"longest":      {feedback.SendInput{Kind: ptr("bug"), Text: ptr(strings.Repeat("ж", 4000))}, nil},
		"shortest":     {feedback.SendInput{Kind: ptr("bug"), Text: ptr("x")}, nil},
		"too long":     {feedback.SendInput{Kind: ptr("bug"), Text: ptr(strings.Repeat("ж", 4001))}, []string{"text"}},
		"empty":        {feedback.SendInput{Kind: ptr("bug"), Text: ptr("")}, []string{"text"}},
		"control":      {feedback.SendInput{Kind: ptr("bug"), Text: ptr("\x07")}, []string{"text"}},
		"unknown kind": {feedback.SendInput{Kind: ptr("praise"), Text: ptr("x")}, []string{"kind"}},
		"other case":   {feedback.SendInput{Kind: ptr("Bug"), Text: ptr("x")}, []string{"kind"}},
		"nothing":      {feedback.SendInput{}, []string{"kind", "text"}},
	} {
		_, err := w.Feedback.SendFeedback(ada.Ctx, c.in)
		if c.refused == nil {
			require.NoError(t, err, name)
			continue
		}
		refused := graphtest.RequireFault(t, err, fault.InvalidInput)
		require.Len(t, refused.Fields, len(c.refused), name)
		for _, field := range c.refused {
			require.Contains(t, refused.Fields, field, name)
		}
	}
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM feedbacks"))
	for _, who := range []context.Context{t.Context(), viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator})} {
		_, err := w.Feedback.SendFeedback(who, feedback.SendInput{Kind: ptr("bug"), Text: ptr("x")})
		graphtest.RequireFault(t, err, fault.Unauthorized)
		graphtest.Refused(t, fault.Unauthorized)(w.Feedback.OwnFeedback(who, feedback.ListInput{}))
	}
}

func TestFeedbackBefore(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada, other := w.Agent(), w.Agent()
	foreign := send(t, w, other, "bug", "x").ID.String()
	for _, c := range []struct {
		before page.Param
		code   fault.Code
	}{
		{page.Param{""}, fault.InvalidID},
		{page.Param{"1"}, fault.InvalidID},
		{page.Param{foreign, foreign}, fault.InvalidID},
		{page.Param{foreign}, fault.NotFound},
		{page.Param{uuid.NewString()}, fault.NotFound},
	} {
		graphtest.Refused(t, c.code)(w.Feedback.OwnFeedback(ada.Ctx, feedback.ListInput{Before: c.before}))
	}
}

// Pages follow each other without gap or overlap, also if much was sent at the same moment.
func TestFeedbackPages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada := w.Agent()
	w.Exec(`INSERT INTO feedbacks (id, bot_id, created_at, kind, text)
		SELECT gen_random_uuid(), $1, stoa_now() - make_interval(secs => n / 40), 'bug', n::text FROM generate_series(1, 200) n`, ada.ID)
	send(t, w, w.Agent(), "bug", "another's")
	seen := map[uuid.UUID]bool{}
	first := list(t, w, ada)
	require.Len(t, first.Feedback, 100)
	require.Equal(t, first.Feedback[99].ID, *first.NextBefore)
	second := list(t, w, ada, first.NextBefore.String())
	require.Len(t, second.Feedback, 100)
	require.Nil(t, second.NextBefore)
	all := append(first.Feedback, second.Feedback...)
	for i, f := range all {
		seen[f.ID] = true
		if i > 0 {
			require.False(t, f.CreatedAt.After(all[i-1].CreatedAt))
		}
	}
	require.Len(t, seen, 200)
}
