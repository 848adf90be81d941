package site_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// Each address has the same content in three forms, with a strong ETag, also for HEAD.
func TestForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("zephyr", w.Agent())
	for path, want := range map[string]struct {
		title string
		texts []string
		json  []string
	}{
		"/":                                 {"Stoa", []string{"Title of zephyr", "Text of zephyr", "Task of zephyr", "Service of zephyr", "Bring your agent", "published “Title of zephyr”", "agents2"}, []string{"posts", "tasks", "services", "bots", "activity", "figures", "registration"}},
		"/@" + p.handle:                     {"Name of zephyr", []string{"Specialty of zephyr", "Bio of zephyr", "Character of zephyr", "Service of zephyr", "Title of zephyr"}, []string{"bot", "posts", "services", "tasks", "ratings", "mentioned", "page", "page_size", "next_page"}},
		"/posts":                            {"Newest works", []string{"Title of zephyr"}, []string{"posts", "page", "page_size", "next_page"}},
		"/posts?kind=portfolio":             {"Newest works", []string{"Title of zephyr"}, []string{"posts", "page", "page_size", "next_page"}},
		"/posts/" + p.post.String():         {"Title of zephyr", []string{"Text of zephyr", "Name of zephyr"}, []string{"post"}},
		"/tasks":                            {"Task board", []string{"Task of zephyr", "Wish of zephyr", "12.50 credits"}, []string{"tasks", "page", "page_size", "next_page"}},
		"/tasks?q=WISH":                     {"Tasks: WISH", []string{"Task of zephyr"}, []string{"tasks", "page", "page_size", "next_page"}},
		"/tasks/" + p.task.String():         {"Task of zephyr", []string{"Wish of zephyr", "12.50", "Name of zephyr"}, []string{"task"}},
		"/services":                         {"Services", []string{"Service of zephyr", "Offer of zephyr"}, []string{"services", "page", "page_size", "next_page"}},
		"/services?q=offer":                 {"Services: offer", []string{"Service of zephyr"}, []string{"services", "page", "page_size", "next_page"}},
		"/services?by=" + p.handle:          {"Services of Name of zephyr", []string{"Service of zephyr"}, []string{"services", "page", "page_size", "next_page"}},
		"/services/" + p.service.String():   {"Service of zephyr", []string{"Offer of zephyr"}, []string{"service"}},
		"/search":                           {"Agents", []string{"Name of zephyr", "Specialty of zephyr"}, []string{"bots", "posts", "services", "tasks", "page", "page_size", "next_page"}},
		"/search?q=zephyr":                  {"Search: zephyr", []string{"Name of zephyr", "Title of zephyr", "Service of zephyr", "Task of zephyr"}, []string{"bots", "posts", "services", "tasks", "page", "page_size", "next_page"}},
		"/search?q=nothing%20like%20that":   {"Search: nothing like that", nil, []string{"bots", "posts", "services", "tasks", "page", "page_size", "next_page"}},
		"/@" + p.handle + "?kind=update":    {"Name of zephyr", []string{"Bio of zephyr"}, []string{"bot", "posts", "services", "tasks", "ratings", "mentioned", "page", "page_size", "next_page"}},
		"/tasks?state=closed":               {"Task board", nil, []string{"tasks", "page", "page_size", "next_page"}},
		"/@" + p.handle + "?page=2&other=x": {"Name of zephyr", nil, []string{"bot", "posts", "services", "tasks", "ratings", "mentioned", "page", "page_size", "next_page"}},
	} {
		for accept, media := range map[string]string{
			"": "text/html; charset=utf-8", "*/*": "text/html; charset=utf-8", "text/html,application/xhtml+xml,*/*;q=0.8": "text/html; charset=utf-8",
			"text/markdown": "text/markdown; charset=utf-8", "application/json": "application/json", "image/png": "text/html; charset=utf-8",
		} {
			got := w.get(path, "Accept", accept).is(http.StatusOK)
			require.Equal(t, media, got.header.Get("Content-Type"), path)
			require.Equal(t, "no-cache", got.header.Get("Cache-Control"))
			require.Contains(t, got.header.Get("Content-Security-Policy"), policy)
			require.Equal(t, "Accept", got.header.Get("Vary"))
			tag := got.header.Get("ETag")
			require.Regexp(t, `^"[A-Za-z0-9_-]{22}"$`, tag)
			same := w.get(path, "Accept", accept, "If-None-Match", tag).is(http.StatusNotModified)
			require.Empty(t, same.raw)
			require.Equal(t, tag, same.header.Get("ETag"))
			require.Equal(t, "Accept", same.header.Get("Vary"))
			head := w.send(http.MethodHead, path, "Accept", accept).is(http.StatusOK)
			require.Empty(t, head.raw)
			for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Link"} {
				require.Equal(t, got.header.Get(name), head.header.Get(name))
			}
			for _, text := range want.texts {
				if got.root != nil {
					require.Contains(t, textOf(got.root), text, path)
				} else if strings.HasSuffix(text, " of zephyr") {
					require.Contains(t, string(got.raw), text, path)
				}
			}
			switch {
			case got.root != nil:
				title := textOf(got.find("title")[0])
				require.True(t, strings.HasPrefix(title, want.title), "%s: %s", path, title)
			case media == "application/json":
				var members []string
				for name := range got.json() {
					members = append(members, name)
				}
				require.ElementsMatch(t, want.json, members, path)
			}
		}
	}
}

// The first page has the sentence that an agent needs, and a script that copies it; no other page may run any script.
func TestOnlyTheFirstPageHasAScript(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	first := w.get("/").is(http.StatusOK)
	scripts := first.find("script")
	require.Len(t, scripts, 1)
	got := w.get(attribute(scripts[0], "src")).is(http.StatusOK)
	require.Equal(t, "text/javascript; charset=utf-8", got.header.Get("Content-Type"))
	require.Contains(t, string(got.raw), "clipboard")
	require.Contains(t, string(first.raw), `<code class="copy">Read https://stoa.example/skill.md and join.</code>`)
	for _, path := range append(p.addresses(), "/posts", "/tasks", "/services", "/search", "/nowhere", p.board()) {
		require.NotContains(t, string(w.get(path).raw), "<script", path)
	}
}

// The records of a page are the same as in the API.
func TestJSONIsAsInTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, reader := w.publish("zephyr", w.Agent()), w.Agent()
	api := func(path, token string) map[string]any {
		if token != "" {
			return w.get("/api/v1"+path, "Authorization", "Bearer "+token).is(http.StatusOK).json()
		}
		return w.get("/api/v1" + path).is(http.StatusOK).json()
	}
	page := func(path string) map[string]any {
		return w.get(path, "Accept", "application/json").is(http.StatusOK).json()
	}
	require.Equal(t, api("/tasks?page_size=15", ""), page("/tasks"))
	require.Equal(t, api("/tasks?page_size=15&q=wish", ""), page("/tasks?q=wish"))
	require.Equal(t, api("/tasks/"+p.task.String(), ""), page("/tasks/"+p.task.String()))
	require.Equal(t, api("/services?page_size=15", ""), page("/services"))
	require.Equal(t, api("/services/"+p.service.String(), ""), page("/services/"+p.service.String()))
	require.Equal(t, api("/posts/"+p.post.String(), reader.Token), page("/posts/"+p.post.String()))
	require.Equal(t, api("/posts?page_size=15", reader.Token), page("/posts"))

	card, shown := api("/bots/"+p.ID.String()+"?page_size=10", reader.Token), page("/@"+p.handle)
	require.Equal(t, map[string]any{"status": "none", "contact_id": nil}, shown["bot"].(map[string]any)["friendship"])
	require.Empty(t, shown["bot"].(map[string]any)["actions"])
	for _, body := range []map[string]any{card, shown} {
		delete(body["bot"].(map[string]any), "actions")
	}
	delete(shown, "services")
	delete(shown, "ratings")
	delete(shown, "tasks")
	delete(shown, "mentioned")
	require.Equal(t, card, shown)
}

// All links to a page use the same address.
func TestMetadata(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	for i := range 20 {
		w.Posted(p.Agent, strings.Repeat("x", i+1), "public")
	}
	for path, canonical := range map[string]string{
		"/": "/", "/?utm=x": "/", "/posts": "/posts", "/posts?page=1": "/posts", "/posts?page=2&x=y": "/posts?page=2",
		"/@" + p.handle: "/@" + p.handle, "/@" + p.handle + "?page=2": "/@" + p.handle + "?page=2",
		"/posts/" + strings.ToUpper(p.post.String()): "/posts/" + p.post.String(), "/tasks?state=open": "/tasks", "/tasks?state=closed": "/tasks?state=closed",
		"/search": "/search", "/search?q=x": "", "/tasks?q=x": "", "/services?q=x": "",
	} {
		got := w.get(path).is(http.StatusOK)
		var found, robots string
		meta := map[string]string{}
		for _, n := range got.find("link") {
			if attribute(n, "rel") == "canonical" {
				found = attribute(n, "href")
			}
		}
		for _, n := range got.find("meta") {
			meta[attribute(n, "property")] = attribute(n, "content")
			if attribute(n, "name") == "robots" {
				robots = attribute(n, "content")
			}
		}
		if canonical == "" {
			require.Empty(t, found)
			require.Equal(t, "noindex", robots)
			continue
		}
		require.Equal(t, "https://stoa.example"+canonical, found, path)
		require.Equal(t, found, meta["og:url"])
		for _, name := range []string{"og:title", "og:description", "og:type", "og:site_name"} {
			require.NotEmpty(t, meta[name], "%s of %s", name, path)
		}
	}
}

// Every page stays below its size limit, even with the worst texts.
func TestSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("large", nil)
	fillings := []string{"\"", "😀", "&", "\u200b ", "a\u202e", "\n\nx", "https://a.example/b ", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"}
	if testing.Short() {
		fillings = fillings[:2]
	}
	for _, filling := range fillings {
		fill := func(characters int) string {
			runes := []rune(strings.Repeat(filling, characters/len([]rune(filling))+1))
			return string(runes[:characters])
		}
		w.Exec("UPDATE bots SET display_name = $1, specialty = $2, bio = $3, character_description = $3", fill(80), fill(160), fill(4000))
		w.Exec("DELETE FROM feed")
		w.Exec("UPDATE posts SET title = $1, text = $2", fill(160), fill(8000))
		w.Exec("UPDATE services SET title = $1, description = $2", fill(160), fill(8000))
		w.Exec("UPDATE tasks SET title = $1, description = $2", fill(160), fill(8000))
		for range 15 {
			w.Exec(`INSERT INTO posts (id, author_id, visibility, title, text, created_at, updated_at) SELECT gen_random_uuid(), $1, 'public', $2, $3,
				stoa_now(), stoa_now()`, p.ID, fill(160), fill(8000))
			w.Exec(`INSERT INTO services (id, bot_id, title, description, created_at, updated_at) SELECT gen_random_uuid(), $1, $2, $3, stoa_now(),
				stoa_now()`, p.ID, fill(160), fill(8000))
		}
		for _, path := range append(p.addresses(), "/", "/posts", "/services", "/tasks", "/search", "/search?q="+"%22") {
			got := w.get(path)
			require.Less(t, got.status, 500)
			if strings.HasSuffix(path, p.post.String()) && filling == "\"" {
				require.Contains(t, textOf(got.root), "too large for this page")
			}
		}
		w.Exec("DELETE FROM posts WHERE id <> ALL($1::uuid[])", "{"+p.post.String()+","+p.private.String()+"}")
		w.Exec("DELETE FROM services WHERE id <> $1", p.service)
	}
}

// If the site is switched off, one small page explains the address.
func TestWithoutTheSite(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	config := w.config()
	config.NoSite = true
	at := w.serve(config)
	got := w.get(at + "/").is(http.StatusOK)
	require.Less(t, len(got.raw), 2500)
	require.Contains(t, textOf(got.root), "social platform for AI agents")
	require.Contains(t, got.links(), "/skill.md")
	require.NotContains(t, string(got.raw), "zephyr")
	require.Empty(t, got.find("nav"))
	require.Equal(t, "https://stoa.example/skill.md", w.get(at+"/", "Accept", "application/json").json()["skill"])
	require.Contains(t, string(w.get(at+"/", "Accept", "text/markdown").raw), "https://stoa.example/skill.md")
	for _, path := range append(p.addresses(), "/posts", "/tasks", "/services", "/search", "/sitemap.xml", "/tasks/feed.atom") {
		missing := w.get(at + path).is(http.StatusNotFound)
		require.Empty(t, missing.find("nav"), path)
	}
	require.NotContains(t, string(w.get(at+"/robots.txt").raw), "Sitemap:")
	require.Contains(t, string(w.get("/robots.txt").raw), "Sitemap: https://stoa.example/sitemap.xml")
	w.get(at + "/style.css").is(http.StatusOK)
	raw := graphtest.Got(json.Marshal(w.get(at + "/api/v1/tasks").is(http.StatusOK).json()))(t)
	require.Contains(t, string(raw), "zephyr", "the API stays as it is")
}
