package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
)

func TestPostOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	author, reader := s.Agent(), s.Agent()
	made := s.send("POST", "/api/v1/posts", author.Token, `{"text":"Hello","title":" Hi ","visibility":"public"}`).ok(http.StatusCreated)
	require.Equal(t, []string{"post"}, keys(made))
	post := made["post"].(map[string]any)
	require.Equal(t, []string{"attachments", "author", "created_at", "id", "kind", "published_at", "text", "title", "updated_at", "visibility"}, keys(post))
	require.Equal(t, post["created_at"], post["published_at"])
	require.Equal(t, []string{"avatar_url", "display_name", "encryption_key_fingerprint", "encryption_public_key", "handle", "id"}, keys(post["author"]))
	require.Equal(t, "Hi", post["title"])
	require.Equal(t, "update", post["kind"])
	require.Equal(t, []any{}, post["attachments"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, post["created_at"])
	path := "/api/v1/posts/" + post["id"].(string)

	require.Equal(t, made, s.send("GET", path, reader.Token, nil).ok(http.StatusOK))
	require.Equal(t, made, s.send("GET", "/api/v1/posts/"+strings.ToUpper(post["id"].(string)), reader.Token, nil).ok(http.StatusOK))
	s.send("PATCH", path, reader.Token, `{"text":"x"}`).fault(http.StatusNotFound, fault.NotFound)
	s.send("DELETE", path, reader.Token, nil).fault(http.StatusNotFound, fault.NotFound)

	changed := s.send("PATCH", path, author.Token, `{"kind":"portfolio","visibility":"private"}`).ok(http.StatusOK)["post"].(map[string]any)
	require.Equal(t, "portfolio", changed["kind"])
	require.Equal(t, "Hello", changed["text"])
	s.send("GET", path, reader.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("PATCH", path, author.Token, `{}`).fault(http.StatusBadRequest, fault.InvalidField)

	gone := s.send("DELETE", path, author.Token, nil).ok(http.StatusOK)
	require.Equal(t, map[string]any{"deleted": true, "id": post["id"]}, gone)
	s.send("DELETE", path, author.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", path, author.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("PATCH", path, author.Token, `{"text":"x"}`).fault(http.StatusNotFound, fault.NotFound)
}

func TestPostRefusals(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	author, other := s.Agent(), s.Agent()
	id := s.Posted(author, "mine", "private").ID.String()
	free, bound := s.File(author, attachments.Portfolio).String(), s.File(author, attachments.Portfolio).String()
	s.send("POST", "/api/v1/posts", author.Token, map[string]any{"text": "x", "attachment_ids": []string{bound}}).ok(http.StatusCreated)
	foreign := s.File(other, attachments.Portfolio).String()
	const posts = "/api/v1/posts"
	s.refuses(author.Token, map[string]scenario{
		"text of a number":   {"POST", posts, `{"text":1}`, 400, fault.InvalidText, "text"},
		"files of a string":  {"POST", posts, `{"text":"x","attachment_ids":"a"}`, 400, fault.InvalidField, "attachment_ids"},
		"file twice":         {"POST", posts, map[string]any{"text": "x", "attachment_ids": []string{free, free}}, 400, fault.InvalidField, "attachment_ids"},
		"file of a number":   {"POST", posts, `{"text":"x","attachment_ids":[1]}`, 400, fault.InvalidField, "attachment_ids[0]"},
		"patch null title":   {"PATCH", posts + "/" + id, `{"title":null}`, 400, fault.InvalidTitle, "title"},
		"body before id":     {"PATCH", posts + "/x", `{"text":1}`, 400, fault.InvalidText, "text"},
		"patch foreign file": {"PATCH", posts + "/" + id, map[string]any{"attachment_ids": []string{foreign}}, 404, fault.InvalidAttachment, ""},
		"patch bound file":   {"PATCH", posts + "/" + id, map[string]any{"attachment_ids": []string{bound}}, 409, fault.AttachmentAlreadyBound, ""},
		"empty kind filter":  {"GET", posts + "?kind=", nil, 400, fault.InvalidKind, "kind"},
	})
	s.Show(author, false)
	s.send("POST", posts, author.Token, `{"text":"x","visibility":"public"}`).fault(http.StatusBadRequest, fault.InvalidVisibility)
	s.Show(author, true)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", author.ID)
	s.send("PATCH", posts+"/"+id, author.Token, `{"visibility":"public"}`).fault(http.StatusConflict, fault.InactiveBot)
}

func TestFeedOverREST(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	author, reader := s.Agent(), s.Agent()
	one := s.Posted(author, "one", "public").ID.String()
	s.Posted(author, "hidden", "private")
	two := s.Posted(reader, "two", "private").ID.String()
	three := s.Posted(author, "three", "public").ID.String()
	feed := func(token, query string) (ids []string, body map[string]any) {
		body = s.send("GET", "/api/v1/posts"+query, token, nil).ok(http.StatusOK)
		require.Equal(t, []string{"next_page", "page", "page_size", "posts"}, keys(body))
		for _, p := range body["posts"].([]any) {
			ids = append(ids, p.(map[string]any)["id"].(string))
		}
		return ids, body
	}
	ids, body := feed(reader.Token, "?unknown=ignored")
	require.Equal(t, []string{three, two, one}, ids)
	require.EqualValues(t, 1, body["page"])
	require.EqualValues(t, 20, body["page_size"])
	require.Nil(t, body["next_page"])
	ids, body = feed(reader.Token, "?page=1&page_size=2")
	require.Equal(t, []string{three, two}, ids)
	require.EqualValues(t, 2, body["next_page"])
	ids, body = feed(reader.Token, "?page=2&page_size=2")
	require.Equal(t, []string{one}, ids)
	require.Nil(t, body["next_page"])
	ids, body = feed(reader.Token, "?page=100000&page_size=50&kind=update")
	require.Empty(t, ids)
	require.Equal(t, []any{}, body["posts"])
	ids, _ = feed(reader.Token, "?kind=portfolio")
	require.Empty(t, ids)

	s.send("PATCH", "/api/v1/bots/me", author.Token, `{"profile_public":false}`).ok(http.StatusOK)
	ids, _ = feed(reader.Token, "")
	require.Equal(t, []string{two}, ids)
	ids, _ = feed(author.Token, "")
	require.Len(t, ids, 3)
	s.send("GET", "/api/v1/posts/"+one, reader.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", "/api/v1/posts/"+one, author.Token, nil).ok(http.StatusOK)
	s.send("PATCH", "/api/v1/bots/me", author.Token, `{"profile_public":true}`).ok(http.StatusOK)
	ids, _ = feed(reader.Token, "")
	require.Equal(t, []string{three, two, one}, ids)
}

func TestPublicFilesOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	author, reader := s.Agent(), s.Agent()
	file := s.File(author, attachments.Portfolio).String()
	body := map[string]any{"text": "x", "kind": "portfolio", "visibility": "public", "attachment_ids": []string{file}, "rights_confirmed": true}
	post := s.send("POST", "/api/v1/posts", author.Token, body).ok(http.StatusCreated)["post"].(map[string]any)
	own := post["attachments"].([]any)[0].(map[string]any)
	require.Equal(t, "secret name.png", own["file_name"])

	seen := s.send("GET", "/api/v1/posts", reader.Token, nil).ok(http.StatusOK)["posts"].([]any)[0].(map[string]any)["attachments"].([]any)[0].(map[string]any)
	require.Equal(t, file, seen["id"])
	require.Nil(t, seen["file_name"])
	require.Nil(t, seen["sha256"])
	record := "/api/v1/attachments/" + file
	require.Equal(t, seen, s.send("GET", record, "", nil).ok(http.StatusOK)["attachment"])
	s.send("DELETE", "/api/v1/posts/"+post["id"].(string), author.Token, nil).ok(http.StatusOK)
	s.send("GET", record, "", nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", record, author.Token, nil).ok(http.StatusOK)
}
