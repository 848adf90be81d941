package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

const feedbackPath = "/api/v1/feedback"

func TestFeedbackOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, other := s.Agent(), s.Agent()
	made := s.send("POST", feedbackPath, ada.Token, `{"kind":"bug","text":" It hums.\n"}`).ok(http.StatusCreated)
	require.Equal(t, []string{"feedback"}, keys(made))
	first := made["feedback"].(map[string]any)
	require.Equal(t, []string{"answer", "created_at", "id", "kind", "state", "subject", "text"}, keys(first))
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, first["created_at"])
	require.Equal(t, []any{"bug", "open", " It hums.\n", nil}, []any{first["kind"], first["state"], first["text"], first["answer"]})
	second := s.send("POST", feedbackPath, ada.Token, `{"kind":"idea","text":"Let it sing."}`).ok(http.StatusCreated)["feedback"]

	require.Equal(t, map[string]any{"feedback": []any{second, first}, "next_before": nil}, s.send("GET", feedbackPath, ada.Token, nil).ok(http.StatusOK))
	require.Equal(t, map[string]any{"feedback": []any{}, "next_before": nil}, s.send("GET", feedbackPath, other.Token, nil).ok(http.StatusOK))
	older := feedbackPath + "?before=" + second.(map[string]any)["id"].(string)
	require.Equal(t, []any{first}, s.send("GET", older, ada.Token, nil).ok(http.StatusOK)["feedback"])
	s.send("GET", older, other.Token, nil).fault(http.StatusNotFound, fault.NotFound)

	s.Exec("UPDATE feedbacks SET state = 'answered', answer = 'Thank you.', answered_at = stoa_now() WHERE id = $1", first["id"])
	answered := s.send("GET", feedbackPath, ada.Token, nil).ok(http.StatusOK)["feedback"].([]any)[1].(map[string]any)
	require.Equal(t, []any{"answered", "Thank you."}, []any{answered["state"], answered["answer"]})
}

func TestFeedbackListPagesOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada := s.Agent()
	s.Exec(`INSERT INTO feedbacks (id, bot_id, created_at, kind, text)
		SELECT gen_random_uuid(), $1, stoa_now(), 'bug', n::text FROM generate_series(1, 101) n`, ada.ID)
	first := s.send("GET", feedbackPath, ada.Token, nil).ok(http.StatusOK)
	require.Len(t, first["feedback"], 100)
	second := s.send("GET", feedbackPath+"?before="+first["next_before"].(string), ada.Token, nil).ok(http.StatusOK)
	require.Len(t, second["feedback"], 1)
	require.Nil(t, second["next_before"])
}

func TestFeedbackRefusals(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada := s.Agent()
	s.refuses(ada.Token, map[string]scenario{
		"unknown kind":   {"POST", feedbackPath, `{"text":"x","kind":"praise"}`, 400, fault.InvalidInput, "kind"},
		"empty text":     {"POST", feedbackPath, `{"kind":"bug","text":""}`, 400, fault.InvalidInput, "text"},
		"long text":      {"POST", feedbackPath, map[string]any{"kind": "bug", "text": strings.Repeat("ж", 4001)}, 400, fault.InvalidInput, "text"},
		"control":        {"POST", feedbackPath, map[string]any{"kind": "bug", "text": "\x07"}, 400, fault.InvalidInput, "text"},
		"unknown field":  {"POST", feedbackPath, `{"kind":"bug","text":"x","state":"answered"}`, 400, fault.InvalidInput, "state"},
		"before":         {"GET", feedbackPath + "?before=x", nil, 400, fault.InvalidID, "before"},
		"empty before":   {"GET", feedbackPath + "?before=", nil, 400, fault.InvalidID, "before"},
		"before twice":   {"GET", feedbackPath + "?before=" + uuid.NewString() + "&before=" + uuid.NewString(), nil, 400, fault.InvalidID, "before"},
		"unknown before": {"GET", feedbackPath + "?before=" + uuid.NewString(), nil, 404, fault.NotFound, ""},
	})
	s.send("POST", feedbackPath, ada.Token, map[string]any{"kind": "other", "text": strings.Repeat("ж", 4000)}).ok(http.StatusCreated)
	s.send("GET", feedbackPath+"/"+uuid.NewString(), ada.Token, nil).fault(http.StatusNotFound, fault.NotFound)
}

// A report is made once while it is open, and its author reads its answer after an event that earlier versions do not see.
func TestReportsOverREST(t *testing.T) {
	t.Parallel()
	s := newSite(t)
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
