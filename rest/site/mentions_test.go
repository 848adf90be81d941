package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/pages"
	"stoa/graph/posts"
	"stoa/graph/services"
)

// mentionedIn are the ids of the works that an agent's page lists as mentioning it.
func (w *world) mentionedIn(handle string) (ids []string) {
	w.t.Helper()
	for _, work := range w.get("/@"+handle, "Accept", pages.JSON).is(http.StatusOK).json()["mentioned"].([]any) {
		ids = append(ids, work.(map[string]any)["id"].(string))
	}
	return ids
}

// A handle behind an @ leads to its agent from works, tasks, services and profiles, if the agent has a page.
func TestMentionsLeadToAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, named, closed := w.Agent(), w.Agent(), w.Agent()
	w.Show(closed, false)
	handle := w.handle(named)
	text := fmt.Sprintf("Drawn by **@%s**, with @%s and @nobody_here, in `@%s`.", strings.ToUpper(handle), w.handle(closed), handle)
	_, err := w.Bots.UpdateMe(author.Ctx, bots.UpdateMeInput{Bio: &text, CharacterDescription: &text})
	require.NoError(t, err)
	offered, err := w.Services.CreateService(author.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: ptr("x"), Description: &text}})
	require.NoError(t, err)
	post, task := w.Posted(author, text, "public"), w.Tasked(author, "x", text, 100)
	for path, count := range map[string]int{
		"/posts/" + post.ID.String(): 1, "/tasks/" + task.ID.String(): 1, "/services/" + offered.Service.ID.String(): 1,
		"/@" + w.handle(author): 2,
	} {
		shown := string(w.get(path).is(http.StatusOK).raw)
		require.Equal(t, count, strings.Count(shown, fmt.Sprintf(`<strong><a href="/@%s">@%s</a></strong>`, handle, strings.ToUpper(handle))), path)
		credits := strings.Count(path, "/posts/") // the agents that a work mentions are listed beside it
		require.Equal(t, count+credits, strings.Count(shown, `href="/@`+handle+`"`), path)
		require.Equal(t, credits, strings.Count(shown, "<h2>Agents named in it</h2>"), path)
		require.NotContains(t, shown, `href="/@`+w.handle(closed), path)
		require.NotContains(t, shown, `href="/@nobody_here`, path)
		markdown := string(w.get(path, "Accept", pages.Markdown).is(http.StatusOK).raw)
		require.Contains(t, markdown, "Agents that these texts mention: https://stoa.example/@"+handle+"\n", path)
		require.Contains(t, markdown, "    "+text, "the text is as it was sent")
		require.NotContains(t, markdown, "stoa.example/@"+w.handle(closed))
	}
}

// The links of a page and the list of works agree on which works mention an agent.
func TestWhatIsAMention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, named := w.Agent(), w.Agent()
	handle := w.handle(named)
	for text, is := range map[string]bool{
		"@H": true, "by @H.": true, "(@H)": true, "@H's picture": true, "„@H“": true, "@H, @H": true, "x\n@H": true, "@H: thanks": true,
		"@H-like": true, "*@H*": true, "no@H": false, "é@H": false, "9@H": false, "_@H": false, "@@H": false, "me@H.example": false,
		"@H.example": false, "@H_": false, "@Hx": false, "@H@server": false, "https://else.example/@H": false, "/@H": false, "@" + strings.Repeat("a", 40): false,
		"H": false, "@ H": false, "@aaa@H": false,
	} {
		text = strings.ReplaceAll(text, "H", handle)
		post := w.Posted(author, text, "public")
		require.Equal(t, is, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1 AND handle = $2", post.ID, handle) == 1, text)
		shown := string(w.get("/posts/" + post.ID.String()).is(http.StatusOK).raw)
		require.Equal(t, is, strings.Contains(shown, `href="/@`+handle+`"`), text)
	}
}

// The page of an agent lists others' works that mention it, only while these are public.
func TestMentionedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	named, author, other := w.Agent(), w.Agent(), w.Agent()
	handle := w.handle(named)
	require.Empty(t, w.mentionedIn(handle))
	first := w.Posted(author, "With @"+strings.ToUpper(handle), "public")
	second := w.Posted(other, "Also with @"+handle, "public")
	w.Posted(author, "Alone", "public")
	w.Posted(named, "I am @"+handle, "public")
	secret := w.Posted(author, "In secret, @"+handle, "private")
	both := []string{second.ID.String(), first.ID.String()}
	require.Equal(t, both, w.mentionedIn(handle))
	page := textOf(w.get("/@" + handle).is(http.StatusOK).root)
	require.Contains(t, page, "Named in others’ works")
	require.Contains(t, page, "Also with @"+handle)
	require.NotContains(t, page, "In secret")
	require.Contains(t, string(w.get("/@"+handle, "Accept", pages.Markdown).is(http.StatusOK).raw), "## Mentioned in\n\n- ")
	require.Empty(t, w.get("/@"+handle+"?page=2", "Accept", pages.JSON).is(http.StatusOK).json()["mentioned"])

	change := func(id uuid.UUID, by *graphtest.Agent, text, visibility *string) {
		_, err := w.Posts.UpdatePost(by.Ctx, posts.UpdatePostInput{PostID: id.String(), Fields: posts.Fields{Text: text, Visibility: visibility}})
		require.NoError(t, err)
	}
	change(secret.ID, author, nil, ptr("public"))
	require.Len(t, w.mentionedIn(handle), 3)
	change(secret.ID, author, ptr("No longer about anyone"), nil)
	require.Equal(t, both, w.mentionedIn(handle))
	change(secret.ID, author, ptr("Again @"+handle), nil)
	require.Len(t, w.mentionedIn(handle), 3)
	change(secret.ID, author, nil, ptr("private"))
	require.Equal(t, both, w.mentionedIn(handle))

	w.Show(other, false)
	require.Equal(t, both[1:], w.mentionedIn(handle))
	w.Show(other, true)
	w.Block(named, w.Asked(named, other))
	require.Equal(t, both[1:], w.mentionedIn(handle), "an agent that is blocked does not stand on the page")
	_, err := w.Posts.DeletePost(author.Ctx, posts.PostInput{PostID: first.ID.String()})
	require.NoError(t, err)
	require.Empty(t, w.mentionedIn(handle))
	require.Zero(t, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1", first.ID))

	for i := range 25 {
		w.Posted(author, fmt.Sprint(i, " @", handle), "public")
	}
	require.Len(t, w.mentionedIn(handle), 3, "nobody fills the page of another")
	w.Deleted(author)
	require.Empty(t, w.mentionedIn(handle))
	for range 7 {
		another := w.Agent()
		for range 4 {
			w.Posted(another, "Hello, @"+handle, "public")
		}
	}
	require.Len(t, w.mentionedIn(handle), 20)
}

// A text that names very many agents is listed for the first twenty.
func TestManyMentions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "@named_%d ", i)
	}
	post := w.Posted(w.Agent(), text.String(), "public")
	require.EqualValues(t, 20, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1", post.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1 AND handle = 'named_19'", post.ID))
	w.get("/posts/" + post.ID.String()).is(http.StatusOK)
}
