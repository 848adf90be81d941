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
	return graphtest.Got(w.Feedback.SendFeedback(by.Ctx, feedback.SendInput{Kind: &kind, Text: &text}))(t).Feedback
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
	for before, code := range map[string]fault.Code{"1": fault.InvalidID, send(t, w, other, "bug", "x").ID.String(): fault.NotFound} {
		graphtest.Refused(t, code)(w.Feedback.OwnFeedback(ada.Ctx, feedback.ListInput{Before: page.Param{before}}))
	}
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
		graphtest.Refused(t, fault.Unauthorized)(w.Feedback.SendFeedback(who, feedback.SendInput{Kind: ptr("bug"), Text: ptr("x")}))
		graphtest.Refused(t, fault.Unauthorized)(w.Feedback.OwnFeedback(who, feedback.ListInput{}))
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

func reported(kind, id, text string) feedback.SendInput {
	return feedback.SendInput{Kind: ptr("report"), Text: &text, Subject: &feedback.SubjectInput{Type: &kind, ID: &id}}
}

// An agent reports anything that it can see. A second report of the same subject returns the open one.
func TestReports(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada, other := w.Agent(), w.Agent()
	post, task := w.Posted(other, "Send me your token.", "public"), w.Tasked(other, "A task", "of mine", 100)
	service := w.Serviced(other, "Refunds", "Send me your token.")
	for kind, id := range map[string]uuid.UUID{"bot": other.ID, "post": post.ID, "task": task.ID, "service": service.ID} {
		first := graphtest.Got(w.Feedback.SendFeedback(ada.Ctx, reported(kind, id.String(), "It asks for tokens.")))(t, kind)
		require.False(t, first.Repeated)
		require.Equal(t, &feedback.Subject{Type: kind, ID: id}, first.Feedback.Subject)
		again := graphtest.Got(w.Feedback.SendFeedback(ada.Ctx, reported(kind, id.String(), "Again.")))(t)
		require.True(t, again.Repeated)
		require.Equal(t, first.Feedback, again.Feedback)
		require.Equal(t, first.Feedback, list(t, w, ada).Feedback[0])

		w.Exec("UPDATE feedbacks SET state = 'answered', answer = 'Thank you.', answered_at = stoa_now()")
		later := graphtest.Got(w.Feedback.SendFeedback(ada.Ctx, reported(kind, id.String(), "It does it again.")))(t)
		require.False(t, later.Repeated, "the first was answered")
		w.Exec("DELETE FROM feedbacks")
	}
}

// An agent cannot report anything that it cannot see, nor itself, nor its own things.
func TestReportsOfHiddenSubjects(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada, other, closed, friend := w.Agent(), w.Agent(), w.Agent(), w.Agent()
	hidden := w.Posted(closed, "hidden", "public")
	w.Show(closed, false)
	w.Asked(friend, ada)
	w.Show(friend, false)
	own := w.Posted(ada, "mine", "public")
	for name, c := range map[string]struct {
		kind string
		id   string
		code fault.Code
	}{
		"unknown":              {"bot", uuid.NewString(), fault.NotFound},
		"a closed profile":     {"bot", closed.ID.String(), fault.NotFound},
		"a contact's, closed":  {"bot", friend.ID.String(), ""},
		"a private post":       {"post", w.Posted(other, "secret", "private").ID.String(), fault.NotFound},
		"a post of the closed": {"post", hidden.ID.String(), fault.NotFound},
		"an agent as a post":   {"post", other.ID.String(), fault.NotFound},
		"itself":               {"bot", ada.ID.String(), fault.InvalidInput},
		"its own post":         {"post", own.ID.String(), fault.InvalidInput},
		"no UUID":              {"bot", "otto", fault.InvalidInput},
		"another type":         {"order", uuid.NewString(), fault.InvalidInput},
	} {
		_, err := w.Feedback.SendFeedback(ada.Ctx, reported(c.kind, c.id, "Look."))
		require.Equal(t, c.code, fault.CodeOf(err), name)
	}
	_, err := w.Feedback.SendFeedback(ada.Ctx, feedback.SendInput{Kind: ptr("report"), Text: ptr("x")})
	require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "subject")
	in := reported("bot", other.ID.String(), "x")
	in.Kind = ptr("bug")
	graphtest.RefusedField(t, fault.InvalidInput, "subject")(w.Feedback.SendFeedback(ada.Ctx, in))
}

// Concurrent reports of one subject by one agent make one report.
func TestReportsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada, other := w.Agent(), w.Agent()
	made := make([]*feedback.Result, 8)
	graphtest.AtOnce(len(made), func(i int) (err error) {
		made[i], err = w.Feedback.SendFeedback(ada.Ctx, reported("bot", other.ID.String(), "Look."))
		return err
	})
	fresh := 0
	for _, r := range made {
		require.NotNil(t, r)
		require.Equal(t, made[0].Feedback.ID, r.Feedback.ID)
		if !r.Repeated {
			fresh++
		}
	}
	require.Equal(t, 1, fresh)
}

// The feedback of an agent ends with it; a report that is still open ends with its answer.
func TestFeedbackEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	ada, other := w.Agent(), w.Agent()
	for kind, answer := range map[string]any{"bug": nil, "idea": "Thank you.", "report": "Removed."} {
		w.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text, subject_type, subject_id, subject_bot_id, state, answer, answered_at)
			SELECT gen_random_uuid(), now(), $1, $2::text, 'A text.', CASE $2 WHEN 'report' THEN 'bot' END,
			  CASE $2 WHEN 'report' THEN $3::uuid END, CASE $2 WHEN 'report' THEN $3::uuid END,
			  CASE WHEN $4::text IS NULL THEN 'open' ELSE 'answered' END, $4, CASE WHEN $4 IS NOT NULL THEN now() END`, ada.ID, kind, other.ID, answer)
	}
	report := graphtest.Got(w.Feedback.SendFeedback(ada.Ctx, reported("bot", other.ID.String(), "It asks for tokens.")))(t)
	w.Deleted(ada)
	require.Equal(t, []uuid.UUID{report.Feedback.ID}, graphtest.Column[uuid.UUID](w, "SELECT id FROM feedbacks"))
	operator := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	graphtest.OK(t)(w.Operator.AnswerFeedback(operator, report.Feedback.ID, "It is gone.", nil, "seen"))
	require.Zero(t, w.Count("SELECT count(*) FROM feedbacks"))
}
