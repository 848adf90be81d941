package rest_test

import (
	"bytes"
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
		path := "/api/v1/attachments/" + of(s.attach(agent, purpose, original))
		for _, suffix := range []string{"", "/preview", "/download"} {
			s.send("GET", path+suffix, "", nil).fault(fault.NotFound)
			s.get(other, path+suffix).fault(fault.NotFound)
			s.send("GET", path+suffix, "stoa_wrong", nil).fault(fault.Unauthorized)
			s.get(agent, path+suffix).is(200).carries("Cache-Control", "no-store")
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
	path := "/api/v1/attachments/" + of(record)
	for _, reader := range []*graphtest.Agent{nil, s.Agent()} {
		preview := s.call("GET", reader, path+"/preview", nil).is(200).carries("Content-Type", "image/jpeg")
		require.Equal(t, 1024, graphtest.Got(jpeg.Decode(bytes.NewReader(preview.raw)))(t).Bounds().Dx())
		download := s.call("GET", reader, path+"/download", nil).is(200).carries("Content-Type", "image/png")
		require.NotEqual(t, original, download.raw, "a processed version, not the original")
		require.Equal(t, 1200, graphtest.Got(png.Decode(bytes.NewReader(download.raw)))(t).Bounds().Dx())
		for _, a := range []*answer{preview, download} {
			a.carries("Cache-Control", "no-cache", "Vary", "Authorization", "Content-Security-Policy", "sandbox; default-src 'none'",
				"Cross-Origin-Resource-Policy", "same-origin")
			require.Regexp(t, `^"[A-Za-z0-9_-]{43}"$`, a.header.Get("ETag"))
			require.NotContains(t, a.header.Get("Content-Disposition"), "picture")
		}
		// The record shows the copy, which has the format of the original.
		s.call("GET", reader, path, nil).has(200, object{"attachment": object{
			"file_name": nil, "sha256": nil, "preview_url": record["preview_url"], "media_type": "image/png", "size_bytes": len(download.raw),
		}})
	}
	require.Equal(t, original, s.get(agent, path+"/download").raw)
	for _, suffix := range []string{"", "/preview", "/download"} {
		s.send("GET", path+suffix, "stoa_wrong", nil).fault(fault.Unauthorized)
		s.send("GET", path+suffix, "", nil, "Authorization", "Basic eDp5").fault(fault.Unauthorized)
	}
}

// When a file stops being public, the next request is refused.
func TestAPublicFileBecomesPrivateAtOnce(t *testing.T) {
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
	bots := func(change string) { s.Exec("UPDATE bots SET "+change+" WHERE id = $1", agent.ID) }
	for _, step := range []struct {
		why    string
		public bool
		change func()
	}{
		{"open", true, func() {}},
		{"closed", false, func() { patch(`{"profile_public": false}`) }},
		{"open again", true, func() { patch(`{"profile_public": true}`) }},
		{"trashed", false, func() { bots("state = 'trash'") }},
		{"suspended", false, func() { bots("state = 'active', suspended_at = stoa_now()") }},
		{"reinstated", true, func() { bots("suspended_at = NULL") }},
		{"unbound", false, func() { patch(`{"avatar_attachment_id": null}`) }},
	} {
		if step.change(); step.why == "closed" {
			s.get(agent, path+"/preview").is(200) // the owner can still read it
		}
		public(step.public, step.why)
	}
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
	path := "/api/v1/attachments/" + of(record) + "/download"
	require.Equal(t, sumOf(string(original)), record["sha256"])
	get := func(headers ...string) *answer { return s.send("GET", path, agent.Token, nil, headers...) }
	head := func(headers ...string) *answer { return s.send("HEAD", path, agent.Token, nil, headers...) }
	whole := get().carries("Accept-Ranges", "bytes")
	tag, length := whole.header.Get("ETag"), whole.header.Get("Content-Length")

	require.Empty(t, head().is(200).carries("Content-Length", length, "ETag", tag).raw)
	require.Empty(t, get("If-None-Match", tag).is(304).carries("ETag", tag).raw)
	require.Equal(t, original, get("If-Match", tag).raw)
	for _, suffix := range []string{"/preview", "/download"} {
		path := "/api/v1/attachments/" + of(record) + suffix
		s.send("GET", path, agent.Token, nil, "If-Match", `"x"`).refused(fault.PreconditionFailed).carries("ETag", "", "Content-Disposition", "")
		// A file never changes after its upload.
		s.send("GET", path, agent.Token, nil, "If-Unmodified-Since", farAhead).is(200)
		s.send("HEAD", path, agent.Token, nil, "If-Unmodified-Since", longAgo).is(412)
		s.send("GET", path, agent.Token, nil, "If-Unmodified-Since", longAgo).fault(fault.PreconditionFailed)
	}
	head("If-Match", `"x"`).is(412)
	for _, asked := range []string{"bytes=0-1", "bytes=99999999-", "bytes=0-0,2-3"} { // HEAD ignores ranges
		head("Range", asked).is(200).carries("Content-Length", length)
	}

	size := len(original)
	for asked, want := range map[string][]byte{
		"bytes=0-0": original[:1], "bytes=10-19": original[10:20], "bytes=-5": original[size-5:], "bytes=7-": original[7:],
		"bytes=0-999999999": original, "bytes=-999999999": original, "bytes=7-99999999999999999999": original[7:],
	} {
		a := get("Range", asked).is(206)
		require.Equal(t, want, a.raw, asked)
		require.NotEmpty(t, a.header.Get("Content-Range"))
	}
	for _, asked := range []string{"lines=1-2", "bytes", "bytes=", "bytes=x-y", "bytes=1-2-3", "bytes=5-2", "bytes=0-1,5-2", "bytes=" + strings.Repeat("0-0,", 20) + "0-0"} {
		require.Equal(t, original, get("Range", asked).is(200).raw, asked)
	}
	for _, asked := range []string{"bytes=99999999-", "bytes=99999999-99999999", "bytes=-0"} {
		get("Range", asked).refused(fault.RangeNotSatisfiable).
			carries("Content-Range", "bytes */"+length, "Content-Type", "application/json", "Cache-Control", "no-store", "ETag", "")
	}
	get("Range", "bytes=0-1", "If-Range", tag).is(206)
	get("Range", "bytes=0-1", "If-Range", `"x"`).is(200)
	get("Range", "bytes=99999999-", "If-None-Match", tag).is(304)
	several := get("Range", "bytes=5-9,0-1").is(206)
	_, params, err := mime.ParseMediaType(several.header.Get("Content-Type"))
	require.NoError(t, err)
	parts := multipart.NewReader(bytes.NewReader(several.raw), params["boundary"])
	for _, want := range [][]byte{original[5:10], original[:2]} {
		require.Equal(t, want, graphtest.Got(io.ReadAll(graphtest.Got(parts.NextPart())(t)))(t))
	}
	path = record["preview_url"].(string)
	require.Equal(t, get().is(200).raw[:10], get("Range", "bytes=0-9").is(206).raw)
	require.Empty(t, head().is(200).raw)
	path = "/api/v1/attachments/" + of(record)
	require.Empty(t, head().is(200).raw)
}

// If bytes of a file are missing, the answer is the error body, not a truncated file.
func TestMissingBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	folder := s.InspectWith(jobs.InspectFile)
	agent := s.Agent()
	path := "/api/v1/attachments/" + of(s.attach(agent, "order", pngOf(t, 9, 9))) + "/download"
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "attachments")))
	s.send("GET", path, agent.Token, nil, "Range", "bytes=1-3").refused(fault.NotFound).
		carries("Content-Type", "application/json", "Content-Range", "")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "attachments"), nil, 0o600))
	s.get(agent, path).fault(fault.ServiceUnavailable)
}

// Only the two participants can read an order's files, and both get the original (§2.6, §2.7).
func TestFilesOfAnOrderAreTheParticipants(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedFileSite(t))
	original := pngOf(t, 30, 30)
	input, outsider := s.attach(s.customer, "order", original), s.Agent()
	path := "/api/v1/attachments/" + of(input)
	s.get(s.contractor, path).fault(fault.NotFound)
	card := s.offer(s.customer, s.terms(object{"input_attachment_ids": []any{input["id"]}}))
	readable := func() {
		for _, by := range []*graphtest.Agent{s.customer, s.contractor} {
			require.Equal(t, input, s.get(by, path).ok(200)["attachment"], "name and hash included")
			download := s.get(by, path+"/download").carries("Cache-Control", "no-store")
			require.Equal(t, original, download.raw)
			require.Contains(t, download.header.Get("Content-Disposition"), "picture.png")
			s.get(by, path+"/preview").carries("Content-Type", "image/jpeg")
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
}
