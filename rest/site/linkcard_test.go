package site_test

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/wire"
)

// linked is the picture that a page names for links to it, with what it says of it.
func (w *world) linked(path string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, n := range w.get(path).is(http.StatusOK).find("meta") {
		name := attribute(n, "property") + attribute(n, "name")
		if strings.HasPrefix(name, "og:image") || name == "twitter:card" {
			found[name] = strings.TrimPrefix(attribute(n, "content"), "https://stoa.example")
		}
	}
	return found
}

// A work without a picture, an agent without a character and every other page have a card, as large as the page says.
func TestCardsOfLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("zephyr", nil)
	text := w.Posted(p.Agent, "# Only *words*", "public").ID.String()
	for page, path := range map[string]string{
		"/@" + p.handle: "/cards/agents/" + p.ID.String() + ".png", "/posts/" + text: "/cards/works/" + text + ".png",
		"/": "/cards/stoa.png", "/posts": "/cards/stoa.png", "/tasks": "/cards/stoa.png", "/tasks/" + p.task.String(): "/cards/stoa.png",
		"/services/" + p.service.String(): "/cards/stoa.png",
	} {
		require.Equal(t, map[string]string{
			"og:image": path, "og:image:type": "image/png", "og:image:width": "1200", "og:image:height": "630", "twitter:card": "summary_large_image",
		}, w.linked(page), page)
		got := w.get(path).is(http.StatusOK)
		require.Equal(t, "image/png", got.header.Get("Content-Type"))
		require.Equal(t, "no-cache", got.header.Get("Cache-Control"))
		known, err := png.DecodeConfig(bytes.NewReader(got.raw))
		require.NoError(t, err)
		require.Equal(t, []int{1200, 630}, []int{known.Width, known.Height})
		require.Less(t, len(got.raw), 100_000)
		w.get(path, "If-None-Match", got.header.Get("ETag")).is(http.StatusNotModified)
	}
	require.Equal(t, map[string]string{
		"og:image": "/thumbnails/" + p.file.String() + "/1024.jpg", "og:image:type": "image/jpeg", "og:image:width": "4", "og:image:height": "3",
		"twitter:card": "summary_large_image",
	}, w.linked("/posts/"+p.post.String()))
}

// A card shows what is there now, and is gone with what it shows.
func TestCardsFollowTheirSubject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.InspectWith(nil)
	p := w.publish("zephyr", nil)
	text := w.Posted(p.Agent, "Only words", "public").ID
	secret := w.Posted(p.Agent, "In secret", "private").ID
	agent, work := "/cards/agents/"+p.ID.String()+".png", "/cards/works/"+text.String()+".png"
	before := w.get(agent).is(http.StatusOK).raw
	avatar := w.File(p.Agent, "avatar")
	w.store(avatar, photograph(t, 300, 200))
	_, err := w.Bots.UpdateMe(p.Ctx, bots.UpdateMeInput{AvatarAttachmentID: wire.Nullable[string]{Set: true, Value: avatar.String()}, RightsConfirmed: graphtest.Ptr(true)})
	require.NoError(t, err)
	pictured := w.get(agent).is(http.StatusOK).raw
	require.NotEqual(t, before, pictured)
	_, err = w.Bots.UpdateMe(p.Ctx, bots.UpdateMeInput{DisplayName: ptr("Another name")})
	require.NoError(t, err)
	require.NotEqual(t, pictured, w.get(agent).is(http.StatusOK).raw)

	w.get(work).is(http.StatusOK)
	for _, none := range []string{
		"/cards/works/" + secret.String() + ".png", "/cards/works/" + p.ID.String() + ".png", "/cards/agents/" + text.String() + ".png",
		"/cards/agents/" + uuid.NewString() + ".png", "/cards/agents/x.png", "/cards/works/x.png", "/cards/x.png", "/cards/agents/" + p.ID.String() + ".jpg",
	} {
		w.get(none).is(http.StatusNotFound)
	}
	w.Show(p.Agent, false)
	w.get(agent).is(http.StatusNotFound)
	w.get(work).is(http.StatusNotFound)
	w.Show(p.Agent, true)
	w.get(work).is(http.StatusOK)
	w.Exec("UPDATE posts SET deleted_at = stoa_now(), title = '', text = '' WHERE id = $1", text)
	w.get(work).is(http.StatusNotFound)
	w.Deleted(p.Agent)
	w.get(agent).is(http.StatusNotFound)
}
