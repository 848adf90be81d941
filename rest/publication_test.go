package rest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
)

// pdfOf returns a PDF with one empty page.
func pdfOf(t testing.TB) []byte {
	t.Helper()
	return documentOf("<< /Author (Ada) >>", "<< /Type /Catalog /Pages 3 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 3 0 R /MediaBox [0 0 72 72] >>")
}

// documentOf returns a PDF with the given objects; the first is its information, the second its catalog.
func documentOf(objects ...string) []byte {
	b := []byte("%PDF-1.4\n")
	var at []int
	for i, object := range objects {
		at = append(at, len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := len(b)
	b = append(b, fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)...)
	for _, offset := range at {
		b = fmt.Appendf(b, "%010d 00000 n \n", offset)
	}
	return fmt.Appendf(b, "trailer\n<< /Size %d /Root 2 0 R /Info 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
}

// All records of a file that others see show the type and size of the copy that they may download, even before the first
// download.
func TestRecordsDescribeTheCopy(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, other := s.Agent(), s.Agent()
	avatar, character := s.attach(agent, "avatar", pngOf(t, 40, 30)), s.attach(agent, "character", jpegOf(t, 40, 30))
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{
		"avatar_attachment_id": avatar["id"], "character_attachment_id": character["id"], "rights_confirmed": true,
	}).ok(http.StatusOK)
	var files []string
	for _, b := range [][]byte{pngOf(t, 1100, 4), jpegOf(t, 1100, 4), pdfOf(t)} {
		files = append(files, s.attach(agent, "portfolio", b)["id"].(string))
	}
	post := s.send("POST", "/api/v1/posts", agent.Token, map[string]any{
		"text": "Look.", "visibility": "public", "attachment_ids": files, "rights_confirmed": true,
	}).ok(http.StatusCreated)["post"].(map[string]any)

	visuals := s.send("GET", "/api/v1/bots/"+agent.ID.String(), other.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)["visuals"].(map[string]any)
	shown := []any{visuals["avatar"], visuals["character"]}
	shown = append(shown, s.send("GET", "/api/v1/posts/"+post["id"].(string), other.Token, nil).ok(http.StatusOK)["post"].(map[string]any)["attachments"].([]any)...)
	require.Len(t, shown, 5)
	for _, card := range shown {
		card := card.(map[string]any)
		path := "/api/v1/attachments/" + card["id"].(string)
		for _, token := range []string{"", other.Token} {
			require.Equal(t, card, s.fetch("GET", path, token).ok(http.StatusOK)["attachment"])
		}
		size := int(card["size_bytes"].(float64))
		head := s.fetch("HEAD", path+"/download", "")
		require.Equal(t, http.StatusOK, head.status)
		require.Equal(t, strconv.Itoa(size), head.header.Get("Content-Length"))
		file := s.fetch("GET", path+"/download", "")
		require.Equal(t, http.StatusOK, file.status, "the first reader finds it")
		require.Len(t, file.raw, size)
		require.Equal(t, card["media_type"], file.header.Get("Content-Type"))
		require.Equal(t, card["media_type"], http.DetectContentType(file.raw))
	}
}

// publications prepares an agent's files and returns the requests that make them public. Each request returns its file.
func (s *site) publications(agent *graphtest.Agent) map[string]func() (*answer, string) {
	private := s.attach(agent, "portfolio", pngOf(s.t, 8, 8))["id"].(string)
	post := s.send("POST", "/api/v1/posts", agent.Token, map[string]any{"text": "x", "attachment_ids": []string{private}}).ok(http.StatusCreated)["post"].(map[string]any)
	file, avatar := s.attach(agent, "portfolio", pngOf(s.t, 8, 8))["id"].(string), s.attach(agent, "avatar", pngOf(s.t, 8, 8))["id"].(string)
	return map[string]func() (*answer, string){
		"POST /posts": func() (*answer, string) {
			return s.send("POST", "/api/v1/posts", agent.Token, map[string]any{
				"text": "x", "visibility": "public", "attachment_ids": []string{file}, "rights_confirmed": true,
			}), file
		},
		"PATCH /posts": func() (*answer, string) {
			return s.send("PATCH", "/api/v1/posts/"+post["id"].(string), agent.Token, map[string]any{"visibility": "public", "rights_confirmed": true}), private
		},
		"PATCH /bots/me": func() (*answer, string) {
			return s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"avatar_attachment_id": avatar, "rights_confirmed": true}), avatar
		},
	}
}

// Publishing needs no storage budget: the public copies count since the upload.
func TestPublicationsNeedNoRoom(t *testing.T) {
	t.Parallel()
	s := newFileSite(t)
	agent := s.Agent()
	publications := s.publications(agent)
	s.Attachments.Quotas = limits.Quotas{StorageBytesPerAgent: 1}
	for name, publish := range publications {
		t.Log(name)
		done, id := publish()
		require.Less(t, done.status, 300, "%s", done.raw)
		require.Equal(t, http.StatusOK, s.fetch("GET", "/api/v1/attachments/"+id+"/download", "").status)
	}
}
