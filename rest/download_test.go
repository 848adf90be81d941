package rest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image/jpeg"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/jobs"
)

// withAvatar returns an agent with an avatar, the record as the owner sees it, and the original bytes.
func (s *site) withAvatar(width, height int) (*graphtest.Agent, object, []byte) {
	s.t.Helper()
	agent := s.Agent()
	original := pngOf(s.t, width, height)
	record := s.attach(agent, "avatar", original)
	s.patch(agent, "/bots/me", object{"avatar_attachment_id": record["id"], "rights_confirmed": true}).ok(200)
	return agent, record, original
}

func TestPrivateFilesAreTheOwners(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, other := s.Agent(), s.Agent()
	for _, purpose := range []string{"avatar", "character", "portfolio", "order"} {
		original := pngOf(t, 20, 10)
		path := "/api/v1/attachments/" + s.attach(agent, purpose, original)["id"].(string)
		for _, suffix := range []string{"", "/preview", "/download"} {
			s.send("GET", path+suffix, "", nil).fault(fault.NotFound)
			s.get(other, path+suffix).fault(fault.NotFound)
			s.send("GET", path+suffix, "stoa_wrong", nil).fault(fault.Unauthorized)
			own := s.get(agent, path+suffix).is(200)
			require.Equal(t, "no-store", own.header.Get("Cache-Control"))
		}
		require.Equal(t, original, s.get(agent, path+"/download").raw)
	}
	s.get(nil, "/attachments/x/preview").fault(fault.InvalidID)
	s.get(agent, "/attachments/"+uuid.NewString()).fault(fault.NotFound)
}

func TestAvatarOfAnOpenProfileIsPublic(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, record, original := s.withAvatar(1200, 300)
	path := "/api/v1/attachments/" + record["id"].(string)
	other := s.Agent()
	for _, token := range []string{"", other.Token} {
		shown := s.send("GET", path, token, nil).ok(200)["attachment"].(object)
		require.Nil(t, shown["file_name"])
		require.Nil(t, shown["sha256"])
		require.Equal(t, record["preview_url"], shown["preview_url"])
		require.Equal(t, "image/png", shown["media_type"], "the copy's, which keeps the format")

		preview := s.send("GET", path+"/preview", token, nil).is(200)
		require.Equal(t, 1024, graphtest.Got(jpeg.Decode(bytes.NewReader(preview.raw)))(t).Bounds().Dx())

		download := s.send("GET", path+"/download", token, nil).is(200)
		require.NotEqual(t, original, download.raw, "a processed version, not the original")
		require.Equal(t, 1200, graphtest.Got(png.Decode(bytes.NewReader(download.raw)))(t).Bounds().Dx())
		require.EqualValues(t, len(download.raw), shown["size_bytes"])

		require.Equal(t, "image/jpeg", preview.header.Get("Content-Type"))
		require.Equal(t, "image/png", download.header.Get("Content-Type"))
		for _, a := range []*answer{preview, download} {
			require.Equal(t, "no-cache", a.header.Get("Cache-Control"))
			require.Equal(t, "Authorization", a.header.Get("Vary"))
			require.Equal(t, "sandbox; default-src 'none'", a.header.Get("Content-Security-Policy"))
			require.Equal(t, "same-origin", a.header.Get("Cross-Origin-Resource-Policy"))
			require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
			require.Regexp(t, `^"[A-Za-z0-9_-]{43}"$`, a.header.Get("ETag"))
			require.NotContains(t, a.header.Get("Content-Disposition"), "picture")
		}
	}
	require.Equal(t, original, s.get(agent, path+"/download").raw)
	for _, suffix := range []string{"", "/preview", "/download"} {
		s.send("GET", path+suffix, "stoa_wrong", nil).fault(fault.Unauthorized)
		s.send("GET", path+suffix, "", nil, "Authorization", "Basic eDp5").fault(fault.Unauthorized)
	}
}

// When a file stops being public, the next request is refused.
func TestPublicityEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent, record, _ := s.withAvatar(30, 30)
	path := "/api/v1/attachments/" + record["id"].(string)
	patch := func(body string) { s.patch(agent, "/bots/me", body).ok(200) }
	tag := s.send("GET", path+"/preview", "", nil).header.Get("ETag")
	public := func(want bool, why string) {
		for _, suffix := range []string{"", "/preview", "/download"} {
			status := s.send("GET", path+suffix, "", nil, "If-None-Match", tag).status
			require.Equal(t, want, status == http.StatusOK || status == http.StatusNotModified, why)
		}
	}
	public(true, "open")
	patch(`{"profile_public": false}`)
	public(false, "closed")
	require.Equal(t, http.StatusOK, s.get(agent, path+"/preview").status, "the owner reads on")
	patch(`{"profile_public": true}`)
	public(true, "open again")
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	public(false, "trashed")
	s.Exec("UPDATE bots SET state = 'active', suspended_at = stoa_now() WHERE id = $1", agent.ID)
	public(false, "suspended")
	s.Exec("UPDATE bots SET suspended_at = NULL WHERE id = $1", agent.ID)
	public(true, "reinstated")
	patch(`{"avatar_attachment_id": null}`)
	public(false, "unbound")
}

func TestNamesInContentDisposition(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	for sent, want := range map[string]string{
		"plain.png":         `attachment; filename="plain.png"`,
		"two words.png":     `attachment; filename="two words.png"`,
		"Füße.png":          `attachment; filename="F__e.png"; filename*=UTF-8''F%C3%BC%C3%9Fe.png`,
		`quo"te\.png`:       `attachment; filename="quo_te_.png"; filename*=UTF-8''quo%22te%5C.png`,
		"100%.png":          `attachment; filename="100_.png"; filename*=UTF-8''100%25.png`,
		"folder/inside.png": `attachment; filename="inside.png"`,
	} {
		form := uploadForm("order", pngOf(t, 4, 4))
		form[0].fileName = sent
		id := s.upload(agent.Token, form).ok(201)["attachment"].(object)["id"].(string)
		a := s.get(agent, "/attachments/"+id+"/download")
		require.Equal(t, want, a.header.Get("Content-Disposition"), sent)
		_, _, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
		require.NoError(t, err)
	}
}

func TestConditionsAndRanges(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	original := pngOf(t, 40, 40)
	record := s.attach(agent, "order", original)
	path := "/api/v1/attachments/" + record["id"].(string) + "/download"
	sum := sha256.Sum256(original)
	require.Equal(t, hex.EncodeToString(sum[:]), record["sha256"])
	whole := s.get(agent, path)
	tag := whole.header.Get("ETag")
	require.Equal(t, "bytes", whole.header.Get("Accept-Ranges"))

	head := s.send("HEAD", path, agent.Token, nil).is(200)
	require.Empty(t, head.raw)
	require.Equal(t, whole.header.Get("Content-Length"), head.header.Get("Content-Length"))
	require.Equal(t, tag, head.header.Get("ETag"))

	known := s.send("GET", path, agent.Token, nil, "If-None-Match", tag).is(http.StatusNotModified)
	require.Empty(t, known.raw)
	require.Equal(t, tag, known.header.Get("ETag"))
	require.Equal(t, original, s.send("GET", path, agent.Token, nil, "If-Match", tag).raw)
	for _, suffix := range []string{"/preview", "/download"} {
		a := s.send("GET", "/api/v1/attachments/"+record["id"].(string)+suffix, agent.Token, nil, "If-Match", `"x"`)
		a.fault(fault.PreconditionFailed)
		require.Empty(t, a.header.Get("ETag"))
		require.Empty(t, a.header.Get("Content-Disposition"))
		// A file never changes after its upload.
		path := "/api/v1/attachments/" + of(record) + suffix
		s.send("GET", path, agent.Token, nil, "If-Unmodified-Since", farAhead).is(200)
		s.send("HEAD", path, agent.Token, nil, "If-Unmodified-Since", longAgo).is(http.StatusPreconditionFailed)
		s.send("GET", path, agent.Token, nil, "If-Unmodified-Since", longAgo).fault(fault.PreconditionFailed)
	}
	require.Equal(t, http.StatusPreconditionFailed, s.send("HEAD", path, agent.Token, nil, "If-Match", `"x"`).status)
	for _, asked := range []string{"bytes=0-1", "bytes=99999999-", "bytes=0-0,2-3"} {
		head := s.send("HEAD", path, agent.Token, nil, "Range", asked)
		require.Equal(t, http.StatusOK, head.status, "a range means nothing to HEAD")
		require.Equal(t, whole.header.Get("Content-Length"), head.header.Get("Content-Length"))
	}

	size := len(original)
	for asked, want := range map[string][]byte{
		"bytes=0-0": original[:1], "bytes=10-19": original[10:20], "bytes=-5": original[size-5:], "bytes=7-": original[7:],
		"bytes=0-999999999": original, "bytes=-999999999": original, "bytes=7-99999999999999999999": original[7:],
	} {
		a := s.send("GET", path, agent.Token, nil, "Range", asked)
		require.Equal(t, http.StatusPartialContent, a.status, asked)
		require.Equal(t, want, a.raw, asked)
		require.NotEmpty(t, a.header.Get("Content-Range"))
	}
	for _, asked := range []string{"lines=1-2", "bytes", "bytes=", "bytes=x-y", "bytes=1-2-3", "bytes=5-2", "bytes=0-1,5-2", "bytes=" + strings.Repeat("0-0,", 20) + "0-0"} {
		a := s.send("GET", path, agent.Token, nil, "Range", asked)
		require.Equal(t, http.StatusOK, a.status, asked)
		require.Equal(t, original, a.raw, asked)
	}
	for _, asked := range []string{"bytes=99999999-", "bytes=99999999-99999999", "bytes=-0"} {
		a := s.send("GET", path, agent.Token, nil, "Range", asked)
		a.fault(fault.RangeNotSatisfiable)
		require.Equal(t, "bytes */"+whole.header.Get("Content-Length"), a.header.Get("Content-Range"))
		require.Equal(t, "application/json", a.header.Get("Content-Type"))
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
		require.Empty(t, a.header.Get("ETag"))
	}
	require.Equal(t, http.StatusPartialContent, s.send("GET", path, agent.Token, nil, "Range", "bytes=0-1", "If-Range", tag).status)
	require.Equal(t, http.StatusOK, s.send("GET", path, agent.Token, nil, "Range", "bytes=0-1", "If-Range", `"x"`).status)
	require.Equal(t, http.StatusNotModified, s.send("GET", path, agent.Token, nil, "Range", "bytes=99999999-", "If-None-Match", tag).status)

	several := s.send("GET", path, agent.Token, nil, "Range", "bytes=5-9,0-1").is(http.StatusPartialContent)
	_, params, err := mime.ParseMediaType(several.header.Get("Content-Type"))
	require.NoError(t, err)
	parts := multipart.NewReader(bytes.NewReader(several.raw), params["boundary"])
	for _, want := range [][]byte{original[5:10], original[:2]} {
		part := graphtest.Got(parts.NextPart())(t)
		require.Equal(t, want, graphtest.Got(io.ReadAll(part))(t))
	}
	preview := s.get(agent, record["preview_url"].(string)).is(200)
	first := s.send("GET", record["preview_url"].(string), agent.Token, nil, "Range", "bytes=0-9").is(http.StatusPartialContent)
	require.Equal(t, preview.raw[:10], first.raw)
	for _, suffix := range []string{"", "/preview"} {
		a := s.send("HEAD", "/api/v1/attachments/"+record["id"].(string)+suffix, agent.Token, nil).is(200)
		require.Empty(t, a.raw)
	}
}

// If bytes of a file are missing, the answer is the error body, not a truncated file.
func TestMissingBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	folder := s.InspectWith(jobs.InspectFile)
	agent := s.Agent()
	path := "/api/v1/attachments/" + s.attach(agent, "order", pngOf(t, 9, 9))["id"].(string) + "/download"
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "attachments")))
	a := s.send("GET", path, agent.Token, nil, "Range", "bytes=1-3").refused(fault.NotFound)
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	require.Empty(t, a.header.Get("Content-Range"))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "attachments"), nil, 0o600))
	s.get(agent, path).fault(fault.ServiceUnavailable)
}

// Only the two participants can read an order's files, and both get the original (§2.6, §2.7).
func TestFilesOfAnOrderAreTheParticipants(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	s.InspectWith(jobs.InspectFile)
	original := pngOf(t, 30, 30)
	input := s.attach(s.customer, "order", original)
	path := "/api/v1/attachments/" + input["id"].(string)
	s.get(s.contractor, path).fault(fault.NotFound)
	card := s.offer(s.customer, s.terms(object{"input_attachment_ids": []any{input["id"]}}))
	outsider := s.Agent()
	readable := func() {
		for _, by := range []*graphtest.Agent{s.customer, s.contractor} {
			require.Equal(t, input, s.get(by, path).ok(200)["attachment"], "name and hash included")
			download := s.get(by, path+"/download")
			require.Equal(t, original, download.raw)
			require.Equal(t, "no-store", download.header.Get("Cache-Control"))
			require.Contains(t, download.header.Get("Content-Disposition"), "picture.png")
			require.Equal(t, "image/jpeg", s.get(by, path+"/preview").header.Get("Content-Type"))
		}
		for _, suffix := range []string{"", "/preview", "/download"} {
			s.get(outsider, path+suffix).fault(fault.NotFound)
			s.send("GET", path+suffix, "", nil).fault(fault.NotFound)
		}
	}
	readable()
	for _, visibility := range []string{"private", "public"} {
		s.post(s.customer, "/posts", object{
			"text": "look", "visibility": visibility, "attachment_ids": []any{input["id"]}, "rights_confirmed": true,
		}).fault(fault.InvalidAttachment)
	}
	s.step(s.contractor, card, "reject", nil)
	readable()

	s.Shift(30 * 24 * time.Hour)
	graphtest.OK(t)(s.Attachments.Sweep(t.Context()))
	for _, by := range []*graphtest.Agent{s.customer, s.contractor} {
		s.Exec("UPDATE tokens SET expires_at = expires_at + interval '1 year'")
		order := s.get(by, "/orders/"+card["id"].(string)).ok(200)["order"].(object)
		historical := order["input_attachments"].([]any)[0].(object)
		require.Equal(t, false, historical["available"])
		require.Nil(t, historical["preview_url"])
		require.Nil(t, historical["download_url"])
		s.get(by, path+"/download").fault(fault.NotFound)
	}
}
