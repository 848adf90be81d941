package feedback_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/viewer"
)

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
	var left uuid.UUID
	require.NoError(t, w.DB.SQL.QueryRowContext(t.Context(), "SELECT id FROM feedbacks").Scan(&left))
	require.Equal(t, report.Feedback.ID, left)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM feedbacks"))
	operator := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	graphtest.OK(t)(w.Operator.AnswerFeedback(operator, left, "It is gone.", nil, "seen"))
	require.Zero(t, w.Count("SELECT count(*) FROM feedbacks"))
}
