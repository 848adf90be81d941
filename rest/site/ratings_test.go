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
	"stoa/graph/ratings"
	"stoa/graph/services"
)

// rated lets an agent rate another after an order that was closed.
func (w *world) rated(by, of *graphtest.Agent, stars int64, text string) *ratings.Card {
	w.t.Helper()
	return w.rate(by, w.Ordered(by, of, "closed"), stars, text)
}

// rate lets an agent rate the other side of an order.
func (w *world) rate(by *graphtest.Agent, order uuid.UUID, stars int64, text string) *ratings.Card {
	w.t.Helper()
	made := graphtest.Got(w.Ratings.RateOrder(by.Ctx, ratings.RateInput{
		OrderID: order.String(), OperationID: ptr(uuid.NewString()), Stars: &stars, Text: &text,
	}))(w.t)
	return made.Rating
}

// An agent's page shows its ratings, without their orders and without invisible authors.
func TestRatingsOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, open, closed := w.publish("zephyr", nil), w.Agent(), w.Agent()
	path := "/@" + p.handle
	require.NotContains(t, textOf(w.get(path).is(http.StatusOK).root), "Rat")
	first := w.rated(open, p.Agent, 5, "Swift <b>wind</b>")
	require.Contains(t, textOf(w.get(path).is(http.StatusOK).root), "5.0 of 5 from 1 agent")
	hidden := w.rated(closed, p.Agent, 4, "A secret opinion")
	w.Show(closed, false)
	shown := textOf(w.get(path).is(http.StatusOK).root)
	for _, text := range []string{"4.5 of 5 from 2 agents", "2 ratings in all", "rated as contractor by Agent @agent_2 ★★★★★", "Swift <b>wind</b>"} {
		require.Contains(t, shown, text)
	}
	require.Contains(t, textOf(w.get("/search").is(http.StatusOK).root), "★ 4.5 from 2 agents")
	for _, form := range forms {
		raw := string(w.get(path, "Accept", form).is(http.StatusOK).raw)
		require.Contains(t, raw, "4.5")
		for _, secret := range []string{
			"secret opinion", closed.ID.String(), hidden.ID.String(), hidden.OrderID.String(), first.OrderID.String(),
		} {
			require.NotContains(t, raw, secret, form)
		}
	}
	body := w.get(path, "Accept", "application/json").json()
	reputation := body["bot"].(map[string]any)["reputation"].(map[string]any)
	require.InDelta(t, 4.5, reputation["average"], 0)
	require.Nil(t, reputation["owners"], "mail is not set up")
	require.Contains(t, shown, "as contractor ★ 4.5 2 ratings, 2 agents")
	require.NotContains(t, shown, "as customer ★ ")
	w.Profiles.SendsMail = true
	require.Contains(t, textOf(w.get(path).is(http.StatusOK).root), "from 2 agents without a confirmed owner")
	require.Len(t, body["ratings"], 1)
}

// A rating links to its signed document, and the document is served, only while both profiles are open.
func TestSignedDocumentOfARating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, author := w.publish("zephyr", nil), w.Agent()
	w.Show(author, true)
	made := w.rated(author, p.Agent, 5, "Swift wind")
	page, document := "/@"+p.handle, "/ratings/"+made.ID.String()
	require.NotContains(t, string(w.get(page).is(http.StatusOK).raw), document, "it is not signed yet")
	w.get(document).is(http.StatusNotFound)
	graphtest.OK(t)(w.Receipts.Sign(t.Context()))
	for _, form := range []string{"text/html", "text/markdown"} {
		require.Contains(t, string(w.get(page, "Accept", form).is(http.StatusOK).raw), document)
	}
	shown := w.get(document).is(http.StatusOK).json()
	require.Len(t, shown, 1)
	rating := shown["rating"].(map[string]any)
	require.Len(t, rating, 4)
	require.Regexp(t, `^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]{86}$`, rating["jws"])
	for _, closing := range []*graphtest.Agent{p.Agent, author} {
		w.Show(closing, false)
		w.get(document).is(http.StatusNotFound)
		w.Show(closing, true)
	}
	w.get(document).is(http.StatusOK)
	w.get("/ratings/x").is(http.StatusNotFound)
	w.get("/ratings/" + made.OrderID.String()).is(http.StatusNotFound)
}

// mentionedIn returns the ids of the works that an agent's page lists because they mention it.
func (w *world) mentionedIn(handle string) (ids []string) {
	w.t.Helper()
	for _, work := range w.get("/@"+handle, "Accept", pages.JSON).is(http.StatusOK).json()["mentioned"].([]any) {
		ids = append(ids, work.(map[string]any)["id"].(string))
	}
	return ids
}

// In works, tasks, services and profiles, a handle after an @ links to its agent, if the agent has a page.
func TestMentionsLeadToAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, named, closed := w.Agent(), w.Agent(), w.Agent()
	w.Show(closed, false)
	handle := w.handle(named)
	text := fmt.Sprintf("Drawn by **@%s**, with @%s and @nobody_here, in `@%s`.", strings.ToUpper(handle), w.handle(closed), handle)
	graphtest.OK(t)(w.Bots.UpdateMe(author.Ctx, bots.UpdateMeInput{Bio: &text, CharacterDescription: &text}))
	offered := graphtest.Got(w.Services.CreateService(author.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: ptr("x"), Description: &text}}))(t)
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

// The links of a page and the list of works agree on which works mention an agent. The list has the first twenty of a text.
func TestMentionsAreRecognised(t *testing.T) {
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
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "@named_%d ", i)
	}
	post := w.Posted(author, many.String(), "public")
	require.EqualValues(t, 20, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1", post.ID), "the first of them")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1 AND handle = 'named_19'", post.ID))
	w.get("/posts/" + post.ID.String()).is(http.StatusOK)
}

// The page of an agent lists others' works that mention it, while the works are public.
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
		_ = graphtest.Got(w.Posts.UpdatePost(by.Ctx, posts.UpdatePostInput{PostID: id.String(), Fields: posts.Fields{Text: text, Visibility: visibility}}))(t)
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
	graphtest.OK(t)(w.Posts.DeletePost(author.Ctx, posts.PostInput{PostID: first.ID.String()}))
	require.Empty(t, w.mentionedIn(handle))
	require.Zero(t, w.Count("SELECT count(*) FROM mentions WHERE post_id = $1", first.ID))

	for i := range 25 {
		w.Posted(author, fmt.Sprint(i, " @", handle), "public")
	}
	require.Len(t, w.mentionedIn(handle), 3, "no agent fills the page of another")
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
