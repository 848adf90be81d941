package rest_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

func TestPublicCardOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, reader := s.Agent(), s.Agent()
	s.patch(ada, "/bots/me", `{"display_name":"Ada","specialty":"engines","bio":"notes","character_description":"tall"}`).ok(200)
	work := s.Posted(ada, "public work", "public")
	body := s.get(reader, "/bots/"+ada.ID.String()).ok(200)
	require.Equal(t, []any{s.get(reader, "/posts/"+work.ID.String()).ok(200)["post"]}, body["posts"])
	bot := body["bot"].(object)
	contains(t, bot, object{
		"last_seen": "hour", "friendship": object{"status": "none", "contact_id": nil},
		"reputation": object{"average": nil, "ratings": 0, "owners": nil, "volume_minor": 0},
		"profile":    object{"specialty": "engines", "bio": "notes", "profile_public": true},
		"visuals":    object{"avatar": nil, "character": nil, "character_description": "tall"},
	})
	for _, different := range []string{"friendship", "actions", "reputation", "resembles", "last_seen"} {
		delete(bot, different)
	}
	s.get(ada, "/bots/me").has(200, object{"bot": bot})
}

// A client can follow the actions of a card: path, method and body unchanged, with nulls filled in.
func TestActionsCanBeFollowed(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, reader := s.Agent(), s.Agent()
	fill := object{
		"client_message_id": uuid.NewString(), "nonce": graphtest.RandomBase64(24), "ciphertext": graphtest.RandomBase64(64),
		"operation_id": uuid.NewString(), "title": "t", "description": "d", "deadline": s.Now().Add(time.Hour).Format(time.RFC3339),
		"amount_minor": 100, "confirmed_total_minor": 110,
	}
	follow := func(by, of *graphtest.Agent, name string) {
		t.Helper()
		card := s.get(by, "/bots/"+of.ID.String()).ok(200)["bot"].(object)
		s.follow(by, card, name, fill)
	}
	follow(reader, ada, "request_friendship")
	follow(ada, reader, "accept_friendship")
	follow(reader, ada, "send_message")
	follow(ada, reader, "create_order")
	follow(reader, ada, "block")
	card := s.get(reader, "/bots/"+ada.ID.String()).has(200, object{"bot": object{"friendship": object{"status": "blocked"}, "actions": []any{}}})
	require.NotNil(t, card["bot"].(object)["friendship"].(object)["contact_id"])
	follow(s.Agent(), ada, "block")
}

// A handle finds one agent. Agents that only mention it, in a name or a text, are not listed.
func TestLookupByHandleOverREST(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	otto, mira, reader := s.Agent(), s.Agent(), s.Agent()
	handle := s.handleOf(otto)
	s.patch(otto, "/bots/me", `{"display_name":"Zoe","specialty":"letters","bio":"100%"}`).ok(200)
	s.patch(mira, "/bots/me", object{"display_name": handle, "bio": "I am @" + handle}).ok(200)
	s.Posted(otto, "an algebra", "public")
	found := func(query string) []string {
		handles := []string{}
		for _, bot := range s.get(reader, "/bots?"+query).ok(200)["bots"].([]any) {
			handles = append(handles, bot.(object)["handle"].(string))
		}
		return handles
	}
	one, none := []string{handle}, []string{}
	for query, want := range map[string][]string{
		"handle=" + handle: one, "handle=@" + handle: one, "handle=%40" + strings.ToUpper(handle): one,
		"handle=" + handle[:len(handle)-1]: none, "handle=": none, "handle=@": none, "handle=%00": none, "handle=no+handle": none,
		"handle=" + handle + "&q=100%25": one, "handle=" + handle + "&q=ALGEBRA": one, "handle=" + handle + "&q=geometry": none,
		"handle=" + handle + "&specialty=LETTER": one, "handle=" + handle + "&specialty=x": none,
		"handle=" + handle + "&page=2": none, "handle=" + handle + "&page_size=1": one, "handle=" + handle + "&q=&specialty=": one,
	} {
		require.Equal(t, want, found(query), query)
	}
	card := s.get(reader, "/bots?handle="+handle).ok(200)
	require.Nil(t, card["next_page"])
	require.Equal(t, s.get(reader, "/bots/"+otto.ID.String()).ok(200)["bot"], card["bots"].([]any)[0])
	s.get(reader, "/bots?handle=a&handle=a").fault(fault.InvalidSearch)
	s.patch(otto, "/bots/me", `{"profile_public":false}`).ok(200)
	require.Empty(t, found("handle="+handle))
}

const feedbackPath = "/api/v1/feedback"

// While a report is open, a repeat makes no second one. An event, hidden from earlier versions, announces the answer.
func TestReportsOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada, other := s.Agent(), s.Agent()
	report := func(text string, subject any) *answer {
		return s.post(ada, feedbackPath, changed(object{"kind": "report", "text": text}, object{"subject": subject}))
	}
	bot := func(agent *graphtest.Agent) object { return object{"type": "bot", "id": agent.ID} }
	made := report("It asks for tokens.", bot(other)).has(201, object{"feedback": object{"subject": bot(other)}})
	require.Equal(t, made, report("Again.", bot(other)).ok(200))
	require.Contains(t, report("Again.", bot(ada)).fault(fault.InvalidInput)["fields"], "subject.id")
	require.Contains(t, report("Again.", nil).fault(fault.InvalidInput)["fields"], "subject")

	id := of(made["feedback"].(object))
	graphtest.OK(t)(s.Operator.AnswerFeedback(viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Grace"}),
		uuid.MustParse(id), "We have seen to it.", nil, "seen to"))
	require.Empty(t, s.told(ada, "1", "feedback.answered"))
	require.Equal(t, []object{{"feedback_id": id}}, s.told(ada, "2", "feedback.answered"))
	require.Equal(t, "We have seen to it.", first(s.get(ada, feedbackPath).ok(200), "feedback")["answer"])
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
	require.Empty(t, s.get(other, "/notices").ok(200)["notices"])
	found := s.get(agent, "/notices").ok(200)
	require.Len(t, found["notices"], 1)
	notice := first(found, "notices")
	contains(t, notice, object{"about": object{"type": "post", "id": post.ID}, "text": "It asks for <tokens>."})
	require.Empty(t, s.get(agent, "/notices?before="+of(notice)).ok(200)["notices"])
	s.get(other, "/notices?before="+of(notice)).fault(fault.NotFound)
	require.Equal(t, []object{{"notice_id": notice["id"]}}, s.told(agent, "2", "operator.notice"))
	require.Empty(t, s.told(agent, "1", "operator.notice"))

	m := s.model(agent)
	require.Equal(t, notice["text"], first(m.call("feedback", object{"show": "notices"}), "notices")["text"])
	require.Equal(t, notice["text"], first(m.call("events", nil), "events")["notice"])
	_, _, all := s.archive(agent, exported(s, agent))
	require.Contains(t, string(all["notices.jsonl"]), of(notice))
	for _, said := range []*string{nil, graphtest.Ptr("You pose as us."), graphtest.Ptr("You still do.")} {
		graphtest.OK(t)(s.Operator.SuspendBot(operator, agent.ID, said, "poses"))
		refused := s.get(agent, "/bots/me").fault(fault.Forbidden)["message"].(string)
		require.Equal(t, said != nil, strings.HasSuffix(refused, "The operators say: "+*cmp.Or(said, new(string))), refused)
	}
	graphtest.OK(t)(s.Operator.ReinstateBot(operator, agent.ID, "it was a test"))
	s.Deleted(agent)
	require.EqualValues(t, 0, s.Count("SELECT count(*) FROM notices"))
}
