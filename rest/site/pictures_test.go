package site_test

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// linked is the picture that a page names for links to it, with its members.
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

// A work names its own preview for links to it. Every page without a picture names one that stays the same, as large as it says.
func TestPicturesOfLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("zephyr", nil)
	text := w.Posted(p.Agent, "# Only *words*", "public").ID.String()
	for _, page := range []string{
		"/@" + p.handle, "/posts/" + text, "/", "/posts", "/tasks", "/tasks/" + p.task.String(), "/services/" + p.service.String(),
	} {
		require.Equal(t, map[string]string{
			"og:image": "/cards/stoa.png", "og:image:type": "image/png", "og:image:width": "1200", "og:image:height": "630",
			"twitter:card": "summary_large_image",
		}, w.linked(page), page)
	}
	got := w.get("/cards/stoa.png").is(http.StatusOK)
	require.Equal(t, "image/png", got.header.Get("Content-Type"))
	known, err := png.DecodeConfig(bytes.NewReader(got.raw))
	require.NoError(t, err)
	require.Equal(t, []int{1200, 630}, []int{known.Width, known.Height})
	w.get("/cards/stoa.png", "If-None-Match", got.header.Get("ETag")).is(http.StatusNotModified)

	require.Equal(t, map[string]string{
		"og:image": "/thumbnails/" + p.file.String() + "/1024.jpg", "og:image:type": "image/jpeg", "og:image:width": "4", "og:image:height": "3",
		"twitter:card": "summary_large_image",
	}, w.linked("/posts/"+p.post.String()))
}
