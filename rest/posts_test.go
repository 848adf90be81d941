package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func TestPostOverREST(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	author, reader := s.Agent(), s.Agent()
	made := s.send("POST", "/api/v1/posts", author.Token, `{"text":"Hello","title":" Hi ","visibility":"public"}`).ok(http.StatusCreated)
	require.Equal(t, []string{"post"}, keys(made))
	post := made["post"].(map[string]any)
	require.Equal(t, []string{"attachments", "author", "created_at", "id", "kind", "text", "title", "updated_at", "visibility"}, keys(post))
	require.Equal(t, []string{"avatar_url", "display_name", "encryption_key_fingerprint", "encryption_public_key", "handle", "id"}, keys(post["author"]))
	require.Equal(t, "Hi", post["title"])
	require.Equal(t, "update", post["kind"])
	require.Equal(t, []any{}, post["attachments"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, post["created_at"])
	path := "/api/v1/posts/" + post["id"].(string)

	require.Equal(t, made, s.send("GET", path, reader.Token, nil).ok(http.StatusOK))
	require.Equal(t, made, s.send("GET", "/api/v1/posts/"+strings.ToUpper(post["id"].(string)), reader.Token, nil).ok(http.StatusOK))
	s.send("GET", path, "", nil).fault(http.StatusUnauthorized, fault.Unauthorized)
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
	for name, c := range map[string]struct {
		method, path string
		body         any
		status       int
		code         fault.Code
		field        string
	}{
		"unknown field":       {"POST", posts, `{"text":"x","tags":[]}`, 400, fault.UnknownFields, "tags"},
		"no text":             {"POST", posts, `{}`, 400, fault.InvalidText, "text"},
		"text of a number":    {"POST", posts, `{"text":1}`, 400, fault.InvalidText, "text"},
		"long title":          {"POST", posts, map[string]any{"text": "x", "title": strings.Repeat("t", 161)}, 400, fault.InvalidTitle, "title"},
		"kind":                {"POST", posts, `{"text":"x","kind":"news"}`, 400, fault.InvalidKind, "kind"},
		"visibility":          {"POST", posts, `{"text":"x","visibility":"all"}`, 400, fault.InvalidVisibility, "visibility"},
		"files of a string":   {"POST", posts, `{"text":"x","attachment_ids":"a"}`, 400, fault.InvalidField, "attachment_ids"},
		"malformed file":      {"POST", posts, `{"text":"x","attachment_ids":["a"]}`, 400, fault.InvalidField, "attachment_ids"},
		"file twice":          {"POST", posts, map[string]any{"text": "x", "attachment_ids": []string{free, free}}, 400, fault.InvalidField, "attachment_ids"},
		"file of a number":    {"POST", posts, `{"text":"x","attachment_ids":[1]}`, 400, fault.InvalidField, "attachment_ids[0]"},
		"not JSON":            {"POST", posts, `text=x`, 400, fault.InvalidField, ""},
		"not an object":       {"POST", posts, `["x"]`, 400, fault.InvalidField, ""},
		"rights denied":       {"POST", posts, map[string]any{"text": "x", "attachment_ids": []string{free}, "rights_confirmed": false}, 400, fault.RightsRequired, "rights_confirmed"},
		"rights missing":      {"POST", posts, map[string]any{"text": "x", "attachment_ids": []string{free}, "visibility": "public"}, 400, fault.PublicationRightsRequired, "rights_confirmed"},
		"foreign file":        {"POST", posts, map[string]any{"text": "x", "attachment_ids": []string{foreign}}, 404, fault.InvalidAttachment, ""},
		"bound file":          {"POST", posts, map[string]any{"text": "x", "attachment_ids": []string{bound}}, 409, fault.AttachmentAlreadyBound, ""},
		"patch unknown field": {"PATCH", posts + "/" + id, `{"author":"x"}`, 400, fault.UnknownFields, "author"},
		"patch null title":    {"PATCH", posts + "/" + id, `{"title":null}`, 400, fault.InvalidTitle, "title"},
		"patch empty text":    {"PATCH", posts + "/" + id, `{"text":""}`, 400, fault.InvalidText, "text"},
		"patch no id":         {"PATCH", posts + "/x", `{"text":"x"}`, 400, fault.InvalidID, "post_id"},
		"body before id":      {"PATCH", posts + "/x", `{"text":1}`, 400, fault.InvalidText, "text"},
		"patch nothing there": {"PATCH", posts + "/" + uuid.NewString(), `{"text":"x"}`, 404, fault.NotFound, ""},
		"patch foreign file":  {"PATCH", posts + "/" + id, map[string]any{"attachment_ids": []string{foreign}}, 404, fault.InvalidAttachment, ""},
		"patch bound file":    {"PATCH", posts + "/" + id, map[string]any{"attachment_ids": []string{bound}}, 409, fault.AttachmentAlreadyBound, ""},
		"get no id":           {"GET", posts + "/x", nil, 400, fault.InvalidID, "post_id"},
		"delete no id":        {"DELETE", posts + "/x", nil, 400, fault.InvalidID, "post_id"},
		"put":                 {"PUT", posts + "/" + id, `{}`, 405, fault.MethodNotAllowed, ""},
		"page":                {"GET", posts + "?page=0", nil, 400, fault.InvalidPagination, "page"},
		"page too deep":       {"GET", posts + "?page=100001", nil, 400, fault.InvalidPagination, "page"},
		"page twice":          {"GET", posts + "?page=1&page=2", nil, 400, fault.InvalidPagination, "page"},
		"page size":           {"GET", posts + "?page_size=51", nil, 400, fault.InvalidPagination, "page_size"},
		"kind filter":         {"GET", posts + "?kind=news", nil, 400, fault.InvalidKind, "kind"},
		"empty kind filter":   {"GET", posts + "?kind=", nil, 400, fault.InvalidKind, "kind"},
	} {
		failure := s.send(c.method, c.path, author.Token, c.body).fault(c.status, c.code)
		if c.field != "" {
			require.Contains(t, failure["fields"], c.field, name)
		}
	}
	s.send("POST", posts, author.Token, `{"text":"x"}`, "Content-Type", "text/plain").fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	s.send("POST", posts, author.Token, map[string]any{"text": strings.Repeat("x", 70_000)}).fault(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge)
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

func TestPostsCountAsMutations(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 3}))
	author := s.Agent()
	post := s.send("POST", "/api/v1/posts", author.Token, `{"text":"x"}`).ok(http.StatusCreated)["post"].(map[string]any)
	path := "/api/v1/posts/" + post["id"].(string)
	s.send("PATCH", path, author.Token, `{`).fault(http.StatusBadRequest, fault.InvalidField)
	s.send("DELETE", path, author.Token, nil).ok(http.StatusOK)
	s.send("DELETE", path, author.Token, nil).fault(http.StatusTooManyRequests, fault.WriteLimited)
	s.send("GET", "/api/v1/posts", author.Token, nil).ok(http.StatusOK)
}
