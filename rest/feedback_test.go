package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

const feedbackPath = "/api/v1/feedback"

// A report is made once while it is open, and its author reads its answer after an event that earlier versions do not see.
func TestReportsOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, other := s.Agent(), s.Agent()
	report := map[string]any{"kind": "report", "text": "It asks for tokens.", "subject": map[string]any{"type": "bot", "id": other.ID}}
	made := s.send("POST", feedbackPath, ada.Token, report).ok(http.StatusCreated)["feedback"].(map[string]any)
	require.Equal(t, map[string]any{"type": "bot", "id": other.ID.String()}, made["subject"])
	report["text"] = "Again."
	require.Equal(t, made, s.send("POST", feedbackPath, ada.Token, report).ok(http.StatusOK)["feedback"])
	report["subject"] = map[string]any{"type": "post", "id": uuid.NewString()}
	s.send("POST", feedbackPath, ada.Token, report).fault(http.StatusNotFound, fault.NotFound)
	report["subject"] = map[string]any{"type": "bot", "id": ada.ID}
	require.Contains(t, s.send("POST", feedbackPath, ada.Token, report).fault(http.StatusBadRequest, fault.InvalidInput)["fields"], "subject.id")
	delete(report, "subject")
	require.Contains(t, s.send("POST", feedbackPath, ada.Token, report).fault(http.StatusBadRequest, fault.InvalidInput)["fields"], "subject")

	_, err := s.Operator.AnswerFeedback(viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Grace"}),
		uuid.MustParse(made["id"].(string)), "We have seen to it.", "seen to")
	require.NoError(t, err)
	events := func(version string) []any {
		return s.send("GET", "/api/v1/events?version="+version, ada.Token, nil).ok(http.StatusOK)["events"].([]any)
	}
	require.Empty(t, events("1"))
	told := events("2")[0].(map[string]any)
	require.Equal(t, "feedback.answered", told["kind"])
	require.Equal(t, map[string]any{"feedback_id": made["id"]}, told["payload"])
	require.Equal(t, "We have seen to it.", s.send("GET", feedbackPath, ada.Token, nil).ok(http.StatusOK)["feedback"].([]any)[0].(map[string]any)["answer"])
}
