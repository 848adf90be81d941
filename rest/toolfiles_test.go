package rest_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/jobs"
)

// read calls read_file, and returns its record and the picture beside it, which is the original or a rendering.
func (m *model) read(id any, kind string) (record map[string]any, picture *sdk.ImageContent) {
	m.t.Helper()
	result := m.try("read_file", map[string]any{"attachment_id": id})
	require.False(m.t, result.IsError)
	require.Len(m.t, result.Content, 2)
	require.Equal(m.t, kind, result.StructuredContent.(map[string]any)["picture"])
	require.NoError(m.t, m.output["read_file"].Validate(result.StructuredContent))
	return result.StructuredContent.(map[string]any)["attachment"].(map[string]any), result.Content[1].(*sdk.ImageContent)
}

// A model uploads a portrait, a portfolio and a result, and another one sees them: pictures as pictures, a PDF as its first page.
func TestModelsUploadAndSeeFiles(t *testing.T) {
	t.Parallel()
	s, ada, ben := tradeOn(newFileSite(t)).withModels()
	upload := func(purpose, name string, bytes []byte) map[string]any {
		arguments := map[string]any{"purpose": purpose, "file_name": name, "base64": base64.StdEncoding.EncodeToString(bytes)}
		made := ben.call("upload_file", arguments)
		require.Equal(t, made["attachment"].(map[string]any)["id"], ben.call("upload_file", arguments)["attachment"].(map[string]any)["id"])
		require.Equal(t, name, made["attachment"].(map[string]any)["file_name"])
		for _, link := range []string{"preview_url", "download_url"} {
			require.NotContains(t, made["attachment"], link)
		}
		return made["attachment"].(map[string]any)
	}
	avatar := upload("avatar", "me.png", pngOf(t, 64, 64))
	ben.call("update_profile", map[string]any{"avatar_attachment_id": avatar["id"], "rights_confirmed": true, "profile_public": true})
	card := ada.call("find_agents", map[string]any{"bot_id": s.contractor.ID.String()})["bot"].(map[string]any)
	shown := card["visuals"].(map[string]any)["avatar"].(map[string]any)
	_, picture := ada.read(shown["id"], "original")
	require.Equal(t, "image/png", picture.MIMEType)
	require.Equal(t, []byte("\x89PNG"), picture.Data[:4], "the copy for others is a PNG as well")

	bytes := pngOf(t, 300, 200)
	work := upload("portfolio", "work.png", bytes)
	_, picture = ben.read(work["id"], "original")
	require.Equal(t, bytes, picture.Data, "the bytes that were uploaded")
	require.Equal(t, "image/png", picture.MIMEType)
	wide := upload("portfolio", "wide.png", pngOf(t, 4097, 2))
	_, picture = ben.read(wide["id"], "rendering")
	require.Equal(t, "image/jpeg", picture.MIMEType)
	ben.call("publish_post", map[string]any{
		"text": "Look.", "kind": "portfolio", "visibility": "public", "attachment_ids": []any{work["id"]}, "rights_confirmed": true,
	})
	order := s.offer(s.customer, s.terms(nil))
	act := func(action string, more map[string]any) {
		order = ben.call("act_on_order", changed(map[string]any{
			"order_id": order["id"], "action": action, "expected_version": order["version"],
		}, more))["order"].(map[string]any)
	}
	act("accept", nil)
	act("start", nil)
	result := upload("order", "result.pdf", pdfOf(t))
	act("deliver", map[string]any{"result_attachment_ids": []any{result["id"]}})
	delivered := ada.call("orders", map[string]any{"order_id": order["id"]})["order"].(map[string]any)
	files := delivered["result_attachments"].([]any)
	record, page := ada.read(files[0].(map[string]any)["id"], "rendering")
	require.Equal(t, "application/pdf", record["media_type"])
	require.Regexp(t, `^<untrusted [0-9a-f]{16}>result.pdf</untrusted [0-9a-f]{16}>$`, record["file_name"])
	require.Equal(t, "image/jpeg", page.MIMEType)
	large := jpegOf(t, 1300, 1300)
	require.Greater(t, len(large), 700<<10)
	noise := upload("portfolio", "noise.jpg", large)
	_, picture = ben.read(noise["id"], "rendering")
	require.Less(t, len(picture.Data), 700<<10, "the picture fits into an answer of 1 MiB")
	stranger := s.model(s.Agent())
	require.Equal(t, "not_found", stranger.refused("read_file", map[string]any{"attachment_id": result["id"]})["error"].(map[string]any)["code"])
}

// A file that is not base64, too large or not a picture is refused, and a path is never read on the server.
func TestModelsUploadNothingElse(t *testing.T) {
	t.Parallel()
	s := newFileSite(t)
	m := s.model(s.Agent())
	file := func(changes map[string]any) map[string]any {
		return changed(map[string]any{"purpose": "order", "file_name": "x.png", "base64": "eA=="}, changes)
	}
	for code, arguments := range map[string][]map[string]any{
		"invalid_input": {
			file(map[string]any{"base64": "%"}), file(map[string]any{"base64": ""}), file(map[string]any{"path": "/etc/passwd"}),
			file(map[string]any{"base64": base64.StdEncoding.EncodeToString(make([]byte, 1<<20+1))}), file(map[string]any{"base64": 1}),
		},
		"invalid_file":   {file(nil)},
		"invalid_fields": {file(map[string]any{"purpose": "x"}), file(map[string]any{"upload_id": "x"})},
	} {
		for _, one := range arguments {
			require.Equal(t, code, m.refused("upload_file", one)["error"].(map[string]any)["code"])
		}
	}
	most := append(pngOf(t, 8, 8), make([]byte, 1<<20-2000)...)
	require.Equal(t, "invalid_file", m.refused("upload_file", file(map[string]any{
		"base64": base64.StdEncoding.EncodeToString(most),
	}))["error"].(map[string]any)["code"], "1 MiB comes as far as the inspection")
	require.Equal(t, http.StatusOK, s.send(http.MethodGet, "/api/v1/wallet", s.Agent().Token, nil).status)
}

// A file in use is uploaded again under the next derived id; until it is in use, a repeat is the same upload.
func TestModelsUploadUsedFilesAnew(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	ben := s.model(s.contractor)
	work := base64.StdEncoding.EncodeToString(pngOf(t, 30, 20))
	upload := func() any {
		return ben.call("upload_file", map[string]any{
			"purpose": "portfolio", "file_name": "work.png", "base64": work,
		})["attachment"].(map[string]any)["id"]
	}
	seen := make(map[any]bool)
	for range 3 {
		file := upload()
		require.False(t, seen[file], "a file in use")
		require.Equal(t, file, upload(), "a repeat")
		seen[file] = true
		ben.call("publish_post", map[string]any{"text": "Look.", "attachment_ids": []any{file}})
	}
	last := upload()
	s.Exec("UPDATE attachments SET deleted_at = now(), reserved_bytes = 0 WHERE id = $1", last)
	require.NotEqual(t, last, upload(), "its bytes are gone")
}

// The answer to a repeated upload reports whether its file is in use.
func TestRepeatedUploadsSayWhatIsInUse(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	parts := uploadForm("portfolio", pngOf(t, 9, 9))
	made := s.post(agent.Token, parts)
	require.Empty(t, made.header.Get("Attachment-Bound"))
	file := made.ok(http.StatusCreated)["attachment"].(map[string]any)["id"]
	again := s.post(agent.Token, parts).is(http.StatusOK)
	require.Empty(t, again.header.Get("Attachment-Bound"))
	s.send(http.MethodPost, "/api/v1/posts", agent.Token, map[string]any{"text": "Look.", "attachment_ids": []any{file}}).ok(http.StatusCreated)
	require.Equal(t, "true", s.post(agent.Token, parts).header.Get("Attachment-Bound"))
}

// A model can see any page of a PDF. For a missing page the fault has the number of pages. The processor time counts against the
// reader.
func TestModelsSeeEveryPage(t *testing.T) {
	t.Parallel()
	s := newFileSite(t, graphtest.WithQuotas(limits.Quotas{InspectionSecondsPerHour: 600}))
	s.Attachments.DrawPage = jobs.DrawPage
	agent := s.Agent()
	m := s.model(agent)
	upload := func(name string, bytes []byte) any {
		return m.call("upload_file", map[string]any{
			"purpose": "order", "file_name": name, "base64": base64.StdEncoding.EncodeToString(bytes),
		})["attachment"].(map[string]any)["id"]
	}
	id, picture := upload("two.pdf", twoPages()), upload("x.png", pngOf(t, 8, 8))
	s.Exec("UPDATE storage_usage SET inspection_seconds = 0 WHERE agent_id = $1", agent.ID)
	for page, size := range map[int]image.Point{1: {400, 400}, 2: {800, 400}} {
		result := m.try("read_file", map[string]any{"attachment_id": id, "page": page})
		require.False(t, result.IsError)
		m := graphtest.Got(jpeg.Decode(bytes.NewReader(result.Content[1].(*sdk.ImageContent).Data)))(t)
		require.Equal(t, size, m.Bounds().Size())
	}
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM storage_usage WHERE inspection_seconds > 0 AND agent_id = $1", agent.ID))
	for id, message := range map[any]string{id: "at most 2, the number of pages", picture: "must be 1: the file is a picture"} {
		refused := m.refused("read_file", map[string]any{"attachment_id": id, "page": 3})["error"].(map[string]any)
		require.Equal(t, "invalid_pagination", refused["code"])
		require.Contains(t, fmt.Sprint(refused), message)
	}

	path := "/api/v1/attachments/" + id.(string) + "/preview?page="
	require.Equal(t, http.StatusBadRequest, s.send(http.MethodGet, path+"0", agent.Token, nil).status)
	require.Equal(t, http.StatusNotFound, s.send(http.MethodGet, path+"2", s.Agent().Token, nil).status)
	s.Exec("UPDATE storage_usage SET inspection_seconds = 700 WHERE agent_id = $1", agent.ID)
	busy := s.send(http.MethodGet, path+"2", agent.Token, nil).refused(http.StatusTooManyRequests, fault.UploadBusy)
	require.NotEmpty(t, busy.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, s.send(http.MethodGet, path+"1", agent.Token, nil).status, "the first page is there")
}

// twoPages returns a PDF with two pages of different shape.
func twoPages() []byte {
	return documentOf("<</Author(Ada)>>", "<</Type/Catalog/Pages 3 0 R>>", "<</Type/Pages/Kids[4 0 R 5 0 R]/Count 2>>",
		"<</Type/Page/Parent 3 0 R/MediaBox[0 0 100 100]>>", "<</Type/Page/Parent 3 0 R/MediaBox[0 0 200 100]>>")
}
