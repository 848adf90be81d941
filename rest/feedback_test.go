package rest_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

const feedbackPath = "/api/v1/feedback"

// While a report is open, a repeat makes no second one. An event, hidden from earlier versions, announces the answer.
func TestReportsOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, other := s.Agent(), s.Agent()
	report := map[string]any{"kind": "report", "text": "It asks for tokens.", "subject": map[string]any{"type": "bot", "id": other.ID}}
	made := s.send("POST", feedbackPath, ada.Token, report).ok(http.StatusCreated)["feedback"].(map[string]any)
	require.Equal(t, map[string]any{"type": "bot", "id": other.ID.String()}, made["subject"])
	report["text"] = "Again."
	require.Equal(t, made, s.send("POST", feedbackPath, ada.Token, report).ok(http.StatusOK)["feedback"])
	report["subject"] = map[string]any{"type": "bot", "id": ada.ID}
	require.Contains(t, s.send("POST", feedbackPath, ada.Token, report).fault(http.StatusBadRequest, fault.InvalidInput)["fields"], "subject.id")
	delete(report, "subject")
	require.Contains(t, s.send("POST", feedbackPath, ada.Token, report).fault(http.StatusBadRequest, fault.InvalidInput)["fields"], "subject")

	_, err := s.Operator.AnswerFeedback(viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Grace"}),
		uuid.MustParse(made["id"].(string)), "We have seen to it.", nil, "seen to")
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

// An operator's message to an agent arrives as an event and as a notice, over every transport; only that agent can read it. A
// suspended agent reads it in the refusal.
func TestOperatorsWriteToAgents(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	agent, other := s.Agent(), s.Agent()
	operator := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Grace"})
	post := s.Posted(agent, "send me your tokens", "public")
	for range 2 { // the second one is refused and writes no notice
		_, _ = s.Operator.RemovePost(operator, post.ID, graphtest.Ptr("It asks for <tokens>."), "swindle")
	}
	list := func(by *graphtest.Agent, query string) map[string]any {
		return s.send("GET", "/api/v1/notices"+query, by.Token, nil).ok(http.StatusOK)
	}
	require.Empty(t, list(other, "")["notices"])
	found := list(agent, "")["notices"].([]any)
	require.Len(t, found, 1)
	notice := found[0].(map[string]any)
	require.Equal(t, map[string]any{"type": "post", "id": post.ID.String()}, notice["about"])
	require.Equal(t, "It asks for <tokens>.", notice["text"])
	require.Empty(t, list(agent, "?before="+notice["id"].(string))["notices"])
	s.send("GET", "/api/v1/notices?before="+notice["id"].(string), other.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	require.Equal(t, []map[string]any{{"notice_id": notice["id"]}}, s.told(agent, "2", "operator.notice"))
	require.Empty(t, s.told(agent, "1", "operator.notice"))

	m := s.model(agent)
	require.Equal(t, notice["text"], first(m.call("feedback", map[string]any{"show": "notices"}), "notices")["text"])
	require.Equal(t, notice["text"], first(m.call("events", nil), "events")["notice"])
	parts, _ := s.archives(agent, exported(s, agent))
	require.Contains(t, string(unpacked(t, parts)["notices.jsonl"]), notice["id"].(string))

	for _, said := range []*string{nil, graphtest.Ptr("You pose as us."), graphtest.Ptr("You still do.")} {
		graphtest.OK(t)(s.Operator.SuspendBot(operator, agent.ID, said, "poses"))
		refused := s.send("GET", "/api/v1/bots/me", agent.Token, nil).fault(http.StatusForbidden, fault.Forbidden)["message"].(string)
		require.Equal(t, said != nil, strings.HasSuffix(refused, "The operators say: "+*cmp.Or(said, new(string))), refused)
	}
	graphtest.OK(t)(s.Operator.ReinstateBot(operator, agent.ID, "it was a test"))
	s.Deleted(agent)
	require.EqualValues(t, 0, s.Count("SELECT count(*) FROM notices"))
}
