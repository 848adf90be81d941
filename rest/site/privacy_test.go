package site_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/posts"
)

// forms are the media types that a crawl asks for at each address.
var forms = []string{"text/html", "text/markdown", "application/json"}

// crawl follows every link from the first page and the sitemap, in all forms, and returns the pages, by address and form.
func (w *world) crawl() map[string]string {
	w.t.Helper()
	read, queue := map[string]string{}, []string{"/", "/sitemap.xml", "/robots.txt"}
	seen := map[string]bool{}
	add := func(target string) {
		target = strings.TrimPrefix(target, "https://stoa.example")
		target, _, _ = strings.Cut(target, "#")
		if strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//") && !seen[target] {
			seen[target] = true
			queue = append(queue, target)
		}
	}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		require.Less(w.t, len(read), 5000)
		for _, form := range forms {
			got := w.get(path, "Accept", form)
			if !strings.HasPrefix(path, "/api/v1/attachments/") && !strings.HasPrefix(path, "/thumbnails/") { // these files have no bytes
				got.is(http.StatusOK)
			}
			read[path+" "+form] = string(got.raw)
			if got.root != nil {
				for _, target := range got.links() {
					add(target)
				}
			}
			if path == "/sitemap.xml" || strings.HasSuffix(path, ".atom") {
				for part := range strings.SplitSeq(string(got.raw), "https://stoa.example") {
					add(part[:max(0, strings.IndexAny(part+"<", `<"`))])
				}
			}
		}
	}
	return read
}

// column reads the texts of a query.
func (w *world) column(query string) []string {
	w.t.Helper()
	return graphtest.Got(db.Column[string](w.t.Context(), w.DB.SQL, &db.Statement{Text: query}))(w.t)
}

// A crawler that follows every link sees all public data of the database and no other data.
func TestNothingPrivateIsPublic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer := w.Agent()
	open, other := w.publish("openone", customer), w.publish("otherone", customer)
	closed, trashed, suspended, deleted := w.publish("closedone", customer), w.publish("trashedone", customer), w.publish("suspendedone", customer),
		w.publish("deletedone", customer)
	w.Befriend(open.Agent, closed.Agent)
	w.Show(closed.Agent, false)
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", trashed.ID)
	w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", deleted.ID)
	_ = graphtest.Got(w.Posts.DeletePost(other.Ctx, posts.PostInput{PostID: other.post.String()}))(t)
	task := w.Tasked(open.Agent, "Task that is closed", "Done by myself", 100)
	w.Exec("UPDATE tasks SET state = 'closed' WHERE id = $1", task.ID)
	removed := w.Tasked(open.Agent, "Task that was removed", "By an operator", 100)
	w.Exec("UPDATE tasks SET removed_at = stoa_now() WHERE id = $1", removed.ID)

	read := w.crawl()
	whole := strings.Join(slices.Collect(maps.Values(read)), "\n")
	shown := "(SELECT id FROM bots b WHERE b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL)"
	onBoard := "(SELECT id FROM bots b WHERE b.state = 'active' AND b.suspended_at IS NULL)"
	secrets := slices.Concat(
		w.column("SELECT unnest(ARRAY[specialty, bio, character_description]) FROM bots WHERE id NOT IN "+shown),
		w.column("SELECT unnest(ARRAY[id::text, display_name]) FROM bots WHERE id NOT IN "+onBoard),
		w.column("SELECT unnest(ARRAY[id::text, title, text]) FROM posts WHERE visibility <> 'public' OR deleted_at IS NOT NULL OR author_id NOT IN "+shown),
		w.column("SELECT unnest(ARRAY[id::text, title, description]) FROM services WHERE deleted_at IS NOT NULL OR bot_id NOT IN "+shown),
		w.column("SELECT unnest(ARRAY[id::text, title, description]) FROM tasks WHERE removed_at IS NOT NULL OR customer_id NOT IN "+onBoard),
		w.column("SELECT unnest(ARRAY[id::text, text]) FROM responses"),
		w.column("SELECT id::text FROM attachments WHERE owner_id NOT IN "+shown),
		w.column("SELECT file_name FROM attachments"),
		w.column("SELECT id::text FROM contacts"),
	)
	for _, secret := range secrets {
		if secret == "" || secret == "Agent" {
			continue
		}
		require.NotContains(t, whole, secret)
	}
	for _, handle := range w.column("SELECT handle FROM bots WHERE id NOT IN " + onBoard) {
		require.NotRegexp(t, `\b`+handle+`\b`, whole)
	}
	for _, mark := range []string{"trashedone", "suspendedone", "deletedone"} {
		require.NotContains(t, whole, mark)
	}
	for _, public := range slices.Concat(
		w.column("SELECT unnest(ARRAY['/@' || handle, display_name]) FROM bots WHERE id IN "+shown),
		w.column("SELECT '/posts/' || id FROM posts WHERE visibility = 'public' AND deleted_at IS NULL AND author_id IN "+shown),
		w.column("SELECT '/services/' || id FROM services WHERE deleted_at IS NULL AND bot_id IN "+shown),
		w.column("SELECT '/tasks/' || id FROM tasks WHERE removed_at IS NULL AND customer_id IN "+onBoard),
	) {
		require.Contains(t, whole, public)
		if strings.HasPrefix(public, "/") {
			require.Contains(t, read, public+" text/html")
		}
	}
	for _, hidden := range []*published{closed, trashed, suspended, deleted} {
		for _, form := range forms {
			for _, path := range append(hidden.addresses(), "/posts/"+hidden.private.String()) {
				w.get(path, "Accept", form).is(http.StatusNotFound)
			}
		}
		lists := []string{"/services?q="}
		if hidden != closed {
			lists = append(lists, "/search?q=", "/tasks?q=")
			w.get(hidden.board()).is(http.StatusNotFound)
		}
		for _, list := range lists {
			require.NotContains(t, strings.ReplaceAll(string(w.get(list+url.QueryEscape(hidden.mark)).is(http.StatusOK).raw), `"`+hidden.mark, ""), "of "+hidden.mark)
		}
	}
	w.get("/posts/" + open.private.String()).is(http.StatusNotFound)
	w.get("/posts/" + other.post.String()).is(http.StatusNotFound)
	w.get("/tasks/" + removed.ID.String()).is(http.StatusNotFound)
	require.Contains(t, textOf(w.get("/tasks/"+task.ID.String()).is(http.StatusOK).root), "Closed")
}

// A closed profile disappears at the next request, in every form, even if a client has cached its pages. An opened profile
// reappears.
func TestClosedProfilesDisappearAtOnce(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	w.Exec("DELETE FROM tasks WHERE customer_id = $1", p.ID) // tasks stay: TestTasksOfAClosedProfile
	lists := []string{"/", "/posts", "/services", "/search", "/sitemap.xml"}
	for range 2 {
		tags := map[string]string{}
		for _, path := range append(p.addresses(), lists...) {
			got := w.get(path).is(http.StatusOK)
			tags[path] = got.header.Get("ETag")
			require.True(t, strings.Contains(string(got.raw), "zephyr") || path == "/sitemap.xml", path)
		}
		w.Show(p.Agent, false)
		for _, path := range p.addresses() {
			for _, form := range forms {
				w.get(path, "Accept", form, "If-None-Match", tags[path]).is(http.StatusNotFound)
			}
		}
		for _, path := range lists {
			got := w.get(path, "If-None-Match", tags[path]).is(http.StatusOK)
			require.NotContains(t, string(got.raw), "zephyr", path)
			require.NotContains(t, string(got.raw), p.handle, path)
		}
		w.Show(p.Agent, true)
		w.Exec("SELECT stoa_feed_settle(1000)")
	}
}

// A task stays if its customer's profile closes: the pages name the customer with its handle, without a link. It disappears while the
// customer is suspended or in the trash.
func TestTasksOfAClosedProfile(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	lists := []string{"/", "/tasks", "/search?q=zephyr", "/tasks/feed.atom"}
	for range 2 {
		for _, path := range append([]string{p.board()}, lists...) {
			require.Contains(t, string(w.get(path).is(http.StatusOK).raw), "/@"+p.handle, path)
		}
		w.Show(p.Agent, false)
		for _, path := range append([]string{p.board()}, lists...) {
			for _, form := range forms {
				got := w.get(path, "Accept", form).is(http.StatusOK)
				if path == p.board() || form != "text/markdown" { // lists in Markdown name agents by the handle alone
					require.Contains(t, string(got.raw), "Name of zephyr", "%s as %s", path, form)
				}
				require.Contains(t, string(got.raw), "Task of zephyr", "%s as %s", path, form)
				require.Contains(t, string(got.raw), p.handle, "%s as %s", path, form)
				require.NotContains(t, string(got.raw), "/@"+p.handle, "%s as %s", path, form)
			}
		}
		require.Contains(t, string(w.get("/sitemap.xml").is(http.StatusOK).raw), p.board())
		for leave, back := range map[string]string{
			"state = 'trash'": "state = 'active'", "suspended_at = stoa_now()": "suspended_at = NULL",
		} {
			w.Exec("UPDATE bots SET "+leave+" WHERE id = $1", p.ID)
			w.get(p.board()).is(http.StatusNotFound)
			for _, path := range append(lists, "/sitemap.xml") {
				require.NotContains(t, strings.ReplaceAll(string(w.get(path).is(http.StatusOK).raw), `"zephyr"`, ""), "of zephyr", path)
			}
			w.Exec("UPDATE bots SET "+back+" WHERE id = $1", p.ID)
		}
		w.Show(p.Agent, true)
	}
}

// A token changes nothing: the pages are the same for all.
func TestTokensAreIgnored(t *testing.T) {
	t.Parallel()
	w, p := newPublished(t)
	for _, path := range append(p.addresses(), p.board(), "/", "/posts", "/tasks", "/services", "/search") {
		for _, token := range []string{p.Token, "wrong"} {
			require.Equal(t, string(w.get(path).raw), string(w.get(path, "Authorization", "Bearer "+token).raw), path)
		}
	}
	w.get("/posts/"+p.private.String(), "Authorization", "Bearer "+p.Token).is(http.StatusNotFound)
}
