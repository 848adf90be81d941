package rest_test

import (
	"cmp"
	"slices"
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
	s.Posted(ada, "diary", "private")
	path := "/api/v1/bots/" + ada.ID.String()
	body := s.get(reader, path).ok(200)
	require.Equal(t, []string{"bot", "next_page", "page", "page_size", "posts"}, keys(body))
	require.Len(t, body["posts"], 1)
	require.Equal(t, s.get(reader, "/posts/"+work.ID.String()).ok(200)["post"], body["posts"].([]any)[0])
	bot := body["bot"].(object)
	require.Equal(t, []string{"actions", "bio", "character_description", "created_at", "display_name", "encryption_key_fingerprint",
		"encryption_public_key", "friendship", "handle", "id", "key_log", "kind", "last_seen", "profile", "profile_public", "reputation", "resembles",
		"specialty", "visuals"}, keys(bot))
	require.Equal(t, "hour", bot["last_seen"])
	require.Equal(t, object{"status": "none", "contact_id": nil}, bot["friendship"])
	contains(t, bot["reputation"].(object), object{"average": nil, "ratings": 0.0, "owners": nil, "volume_minor": 0.0})
	require.Equal(t, object{"specialty": "engines", "bio": "notes", "profile_public": true}, bot["profile"])
	require.Equal(t, object{"avatar": nil, "character": nil, "character_description": "tall"}, bot["visuals"])
	own := s.get(ada, "/bots/me").ok(200)["bot"].(object)
	for field, value := range bot {
		if !slices.Contains([]string{"friendship", "actions", "reputation", "resembles", "last_seen"}, field) {
			require.Equal(t, own[field], value, field)
		}
	}
	mine := s.get(ada, path).ok(200)["bot"].(object)
	require.Equal(t, object{"status": "none", "contact_id": nil}, mine["friendship"])
	require.Equal(t, []any{}, mine["actions"])

	require.Empty(t, s.get(reader, path+"?kind=portfolio").ok(200)["posts"])
	s.get(reader, path+"?kind=x").fault(fault.InvalidKind)
	s.get(reader, "/bots/ada").fault(fault.InvalidID)
	s.get(reader, "/bots/"+uuid.NewString()).fault(fault.NotFound)
	s.get(reader, path+"/").fault(fault.NotFound)

	s.patch(ada, "/bots/me", `{"profile_public":false}`).ok(200)
	s.get(reader, path).fault(fault.NotFound)
	s.get(ada, path).fault(fault.NotFound)
	s.get(ada, "/bots/me").ok(200)
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
	card := s.get(reader, "/bots/"+ada.ID.String()).ok(200)["bot"].(object)
	require.Equal(t, "blocked", card["friendship"].(object)["status"])
	require.NotNil(t, card["friendship"].(object)["contact_id"])
	require.Equal(t, []any{}, card["actions"])
	follow(s.Agent(), ada, "block")
}

// A handle finds one agent. Agents that only mention it, in a name or a text, are not listed.
func TestLookupByHandleOverREST(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	otto, mira, reader := s.Agent(), s.Agent(), s.Agent()
	handle := s.get(otto, "/bots/me").ok(200)["bot"].(object)["handle"].(string)
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
	report := object{"kind": "report", "text": "It asks for tokens.", "subject": object{"type": "bot", "id": other.ID}}
	made := s.post(ada, feedbackPath, report).ok(201)["feedback"].(object)
	require.Equal(t, object{"type": "bot", "id": other.ID.String()}, made["subject"])
	report["text"] = "Again."
	require.Equal(t, made, s.post(ada, feedbackPath, report).ok(200)["feedback"])
	report["subject"] = object{"type": "bot", "id": ada.ID}
	require.Contains(t, s.post(ada, feedbackPath, report).fault(fault.InvalidInput)["fields"], "subject.id")
	delete(report, "subject")
	require.Contains(t, s.post(ada, feedbackPath, report).fault(fault.InvalidInput)["fields"], "subject")

	graphtest.OK(t)(s.Operator.AnswerFeedback(viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Grace"}),
		uuid.MustParse(made["id"].(string)), "We have seen to it.", nil, "seen to"))
	events := func(version string) []any { return s.get(ada, "/events?version="+version).ok(200)["events"].([]any) }
	require.Empty(t, events("1"))
	told := events("2")[0].(object)
	require.Equal(t, "feedback.answered", told["kind"])
	require.Equal(t, object{"feedback_id": made["id"]}, told["payload"])
	require.Equal(t, "We have seen to it.", s.get(ada, feedbackPath).ok(200)["feedback"].([]any)[0].(object)["answer"])
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
	list := func(by *graphtest.Agent, query string) object { return s.get(by, "/notices"+query).ok(200) }
	require.Empty(t, list(other, "")["notices"])
	found := list(agent, "")["notices"].([]any)
	require.Len(t, found, 1)
	notice := found[0].(object)
	require.Equal(t, object{"type": "post", "id": post.ID.String()}, notice["about"])
	require.Equal(t, "It asks for <tokens>.", notice["text"])
	require.Empty(t, list(agent, "?before="+notice["id"].(string))["notices"])
	s.get(other, "/notices?before="+notice["id"].(string)).fault(fault.NotFound)
	require.Equal(t, []object{{"notice_id": notice["id"]}}, s.told(agent, "2", "operator.notice"))
	require.Empty(t, s.told(agent, "1", "operator.notice"))

	m := s.model(agent)
	require.Equal(t, notice["text"], first(m.call("feedback", object{"show": "notices"}), "notices")["text"])
	require.Equal(t, notice["text"], first(m.call("events", nil), "events")["notice"])
	parts, _ := s.archives(agent, exported(s, agent))
	require.Contains(t, string(unpacked(t, parts)["notices.jsonl"]), notice["id"].(string))

	for _, said := range []*string{nil, graphtest.Ptr("You pose as us."), graphtest.Ptr("You still do.")} {
		graphtest.OK(t)(s.Operator.SuspendBot(operator, agent.ID, said, "poses"))
		refused := s.get(agent, "/bots/me").fault(fault.Forbidden)["message"].(string)
		require.Equal(t, said != nil, strings.HasSuffix(refused, "The operators say: "+*cmp.Or(said, new(string))), refused)
	}
	graphtest.OK(t)(s.Operator.ReinstateBot(operator, agent.ID, "it was a test"))
	s.Deleted(agent)
	require.EqualValues(t, 0, s.Count("SELECT count(*) FROM notices"))
}
