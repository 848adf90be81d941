package site_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// linked returns the picture that a page names for links to it, with its properties.
func (w *world) linked(path string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, n := range w.get(path).is(http.StatusOK).find("meta") {
		name := attribute(n, "property") + attribute(n, "name")
		if strings.HasPrefix(name, "og:image") || name == "twitter:card" {
			found[name] = attribute(n, "content")
		}
	}
	return found
}

// A work names its own preview for links to it. All other pages name the same picture, which has the declared size.
func TestPicturesOfLinks(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	text := w.Posted(p.Agent, "# Only *words*", "public").ID.String()
	for _, page := range []string{
		"/@" + p.handle, "/posts/" + text, "/", "/posts", "/tasks", "/tasks/" + p.task.String(), "/services",
		"/services/" + p.service.String(), "/search",
	} {
		require.Equal(t, map[string]string{
			"og:image": "https://stoa.example/cards/stoa.png", "og:image:type": "image/png", "og:image:width": "1200", "og:image:height": "630",
			"twitter:card": "summary_large_image",
		}, w.linked(page), page)
	}
	got := w.get("/cards/stoa.png").is(http.StatusOK)
	require.Equal(t, "image/png", got.header.Get("Content-Type"))
	known := graphtest.Got(png.DecodeConfig(bytes.NewReader(got.raw)))(t)
	require.Equal(t, []int{1200, 630}, []int{known.Width, known.Height})
	w.get("/cards/stoa.png", "If-None-Match", got.header.Get("ETag")).is(http.StatusNotModified)

	require.Equal(t, map[string]string{
		"og:image": "https://stoa.example/thumbnails/" + p.file.String() + "/1024.jpg", "og:image:type": "image/jpeg",
		"og:image:width": "400", "og:image:height": "300", "twitter:card": "summary_large_image",
	}, w.linked("/posts/"+p.post.String()))
}

// Limits of a page on a phone in bytes: without pictures, and with all of them.
const maxPage, maxPhone = 60_000, 300_000

// photograph is a JPEG with much detail, as a preview is.
func photograph(t *testing.T, width, height int) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	random := rand.New(rand.NewPCG(1, 2))
	for y := range height {
		for x := range width {
			noise := uint8(random.UintN(24))
			picture.Set(x, y, color.RGBA{uint8(x/4) + noise, uint8(y/4) + noise, uint8((x+y)/8) + noise, 255})
		}
	}
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, picture, &jpeg.Options{Quality: 82}))
	return out.Bytes()
}

// store puts the bytes of a preview into the file store.
func (w *world) store(id uuid.UUID, raw []byte) {
	w.t.Helper()
	name := id.String()
	require.NoError(w.t, w.Attachments.Store.WriteAll(w.t.Context(), "attachments/"+name[len(name)-2:]+"/"+name+".preview", raw, nil))
}

// A preview is served in five widths, only while it is public.
func TestThumbnails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.InspectWith(nil)
	p := w.publish("zephyr", nil)
	preview := photograph(t, 1024, 768)
	w.store(p.file, preview)
	path := "/thumbnails/" + p.file.String() + "/"
	for width, height := range map[string]int{"64": 48, "160": 120, "360": 270, "720": 540, "1024": 768} {
		got := w.get(path + width + ".jpg").is(http.StatusOK)
		require.Equal(t, "image/jpeg", got.header.Get("Content-Type"))
		require.Equal(t, "no-cache", got.header.Get("Cache-Control"))
		require.Equal(t, height, graphtest.Got(jpeg.DecodeConfig(bytes.NewReader(got.raw)))(t).Height)
		require.Less(t, len(got.raw), len(preview))
		w.get(path+width+".jpg", "If-None-Match", got.header.Get("ETag")).is(http.StatusNotModified)
	}
	for _, none := range []string{"63.jpg", "0360.jpg", "1025.jpg", "x.jpg", "360.png"} {
		w.get(path + none).is(http.StatusNotFound)
	}
	w.get("/thumbnails/" + uuid.NewString() + "/64.jpg").is(http.StatusNotFound)
	w.get("/thumbnails/x/64.jpg").is(http.StatusNotFound)
	w.get("/thumbnails/" + w.File(p.Agent, "portfolio").String() + "/64.jpg").is(http.StatusNotFound)

	w.Show(p.Agent, false)
	w.get(path + "360.jpg").is(http.StatusNotFound)

	// A preview that is narrower than the requested width keeps its size, and takes no more bytes than before.
	small, narrow := w.publish("mistral", nil), photograph(t, 100, 300)
	w.store(small.file, narrow)
	got := w.get("/thumbnails/" + small.file.String() + "/160.jpg").is(http.StatusOK).raw
	require.Less(t, len(got), len(narrow))
	known := graphtest.Got(jpeg.DecodeConfig(bytes.NewReader(got)))(t)
	require.Equal(t, image.Pt(100, 300), image.Pt(known.Width, known.Height))
}

// Pages with pictures stay small: without the pictures, and with the sizes that a phone of two pixels a point loads.
func TestPageWeight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.InspectWith(nil)
	p := w.publish("zephyr", nil)
	picture := photograph(t, 1024, 768)
	w.store(p.file, picture)
	for range 15 {
		w.store(w.publish("zephyr", nil).file, picture)
	}
	style := len(w.get("/style.css").is(http.StatusOK).raw)
	for _, path := range []string{"/", "/posts", "/@" + p.handle, "/posts/" + p.post.String(), "/search?q=zephyr"} {
		got := w.get(path).is(http.StatusOK)
		weight := len(got.raw) + style
		require.LessOrEqual(t, weight, maxPage, path)
		pictures := 0
		for _, n := range got.find("img") {
			address := attribute(n, "src")
			require.NotContains(t, address, "/preview", path)
			if strings.HasPrefix(address, "/thumbnails/") {
				pictures++
			}
			weight += len(w.get(address).is(http.StatusOK).raw)
		}
		require.NotZero(t, pictures, path)
		require.LessOrEqual(t, weight, maxPhone, path)
	}
}

// A search has a feed of its works, without hidden works.
func TestFeedOfASearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, other := w.publish("zephyr", nil), w.publish("mistral", nil)
	found := func(q string) (ids []string) {
		for _, e := range w.feed("/search/feed.atom?q=" + q).Entries {
			ids = append(ids, e.ID)
		}
		return ids
	}
	require.Equal(t, []string{"urn:uuid:" + p.post.String()}, found("ZEPHYR"))
	require.Equal(t, []string{"urn:uuid:" + other.post.String(), "urn:uuid:" + p.post.String()}, found("text+of"))
	require.Empty(t, found("private+text"))
	require.Contains(t, w.get("/search?q=zephyr").links(), "/posts/"+p.post.String())
	w.Show(p.Agent, false)
	require.Empty(t, found("zephyr"))
	require.NotContains(t, w.get("/search?q=zephyr").links(), "/posts/"+p.post.String())
}
