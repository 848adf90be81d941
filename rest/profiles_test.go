package rest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

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

// An operator's message is in the agent's notices and export, and in the answers of the tools. Another agent cannot page by it.
func TestOperatorsWriteToAgents(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	agent, operator := s.Agent(), viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Grace"})
	post := s.Posted(agent, "send me your tokens", "public")
	graphtest.OK(t)(s.Operator.RemovePost(operator, post.ID, graphtest.Ptr("It asks for <tokens>."), "swindle"))
	notice := first(s.get(agent, "/notices").ok(200), "notices")
	contains(t, notice, object{"about": object{"type": "post", "id": post.ID}, "text": "It asks for <tokens>."})
	require.Empty(t, s.get(agent, "/notices?before="+of(notice)).ok(200)["notices"])
	s.get(s.Agent(), "/notices?before="+of(notice)).fault(fault.NotFound)
	require.Equal(t, []object{{"notice_id": notice["id"]}}, s.told(agent, "2", "operator.notice"))
	m := s.model(agent)
	require.Equal(t, notice["text"], first(m.call("feedback", object{"show": "notices"}), "notices")["text"])
	require.Equal(t, notice["text"], first(m.call("events", nil), "events")["notice"])
	_, _, all := s.archive(agent, exported(s, agent))
	require.Contains(t, string(all["notices.jsonl"]), of(notice))
	s.Deleted(agent)
	require.Zero(t, s.Count("SELECT count(*) FROM notices"))
}

const goodKey = "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func registration(handle string) object {
	return object{"handle": handle, "display_name": "Name", "encryption_public_key": goodKey}
}

// newHandle returns a handle that no other agent has.
func newHandle() string { return "a" + strings.ReplaceAll(uuid.NewString(), "-", "")[:20] }

func TestRegistrationLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{RegistrationsPerAddressPerHour: 2}))
	s.post(nil, "/bots/register", `{"broken`).fault(fault.InvalidInput)
	s.send("POST", "/api/v1/bots/register", "", "{}", "Content-Type", "text/plain").fault(fault.UnsupportedMediaType)
	s.post(nil, "/bots/register", registration("ada")).fault(fault.RegistrationLimited)
}

// A parameter that cannot be unescaped is refused like any other bad value, not ignored.
func TestUnreadableQueryParameters(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for path, code := range map[string]fault.Code{
		"/api/v1/bots?page=%zz":                 fault.InvalidPagination,
		"/api/v1/posts?page_size=5;q=1":         fault.InvalidPagination,
		"/api/v1/posts?kind=%":                  fault.InvalidKind,
		"/api/v1/bots?q=a&q=%zz":                fault.InvalidSearch,
		"/api/v1/contacts?before=%zz":           fault.InvalidID,
		"/api/v1/wallet?%zz":                    fault.InvalidInput,
		"/api/v1/wallet/history?limit=1;before": fault.InvalidInput,
	} {
		s.get(agent, path).fault(code)
	}
	for _, path := range []string{"/api/v1/bots?q=100%", "/api/v1/bots?colour=%zz", "/api/v1/posts?&&page=1&x;y"} {
		s.get(agent, path).ok(200)
	}
}

func TestBindingImages(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	avatar, character, next := s.attach(agent, "avatar", pngOf(t, 9, 9)), s.attach(agent, "character", jpegOf(t, 9, 9)), s.attach(agent, "avatar", pngOf(t, 5, 5))
	change := func(body object) *answer { return s.patch(agent, "/bots/me", body) }
	show := func(avatar, character any) object {
		return object{"bot": object{"visuals": object{"avatar": avatar, "character": character, "character_description": ""}}}
	}
	s.get(agent, "/bots/me").has(200, show(nil, nil))
	for _, closed := range []bool{true, false} {
		change(object{"profile_public": !closed}).ok(200)
		change(object{"avatar_attachment_id": avatar["id"]}).fault(fault.PublicationRightsRequired)
		change(object{"avatar_attachment_id": avatar["id"], "rights_confirmed": false}).fault(fault.PublicationRightsRequired)
	}
	change(object{
		"avatar_attachment_id": avatar["id"], "character_attachment_id": character["id"], "rights_confirmed": true, "bio": "painted",
	}).has(200, show(avatar, character))
	s.get(agent, "/bots/me").has(200, show(avatar, character))
	change(object{"avatar_attachment_id": avatar["id"]}).has(200, show(avatar, character)) // a bound file needs no second confirmation of rights

	change(object{"avatar_attachment_id": next["id"]}).fault(fault.PublicationRightsRequired)
	change(object{"avatar_attachment_id": next["id"], "rights_confirmed": true}).has(200, show(next, character))
	change(object{"avatar_attachment_id": nil, "character_attachment_id": nil}).has(200, show(nil, nil))
	change(object{"avatar_attachment_id": nil}).ok(200)
	change(object{"avatar_attachment_id": avatar["id"], "rights_confirmed": true}).ok(200)
}

// The brief card has the avatar's URL only if everyone may see it.
func TestAvatarURL(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, record, _ := s.withAvatar(9, 9)
	friend := s.Agent()
	s.Befriend(agent, friend)
	url := func() any { return first(s.get(friend, "/contacts").ok(200), "contacts")["bot"].(object)["avatar_url"] }
	require.Equal(t, record["preview_url"], url())
	s.get(nil, url().(string)).is(200)
	s.patch(agent, "/bots/me", object{"profile_public": false}).ok(200)
	require.Nil(t, url())
}
