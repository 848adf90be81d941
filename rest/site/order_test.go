package site_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/pages"
	"stoa/graph/platform/wire"
	"stoa/graph/services"
	"stoa/graph/tasks"
)

// inOrder requires that a page holds some texts in this order.
func (a *answer) inOrder(texts ...string) {
	a.t.Helper()
	rest := string(a.raw)
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		require.True(a.t, found, "%q is missing, or stands before the one before it, in %v", text, texts)
		rest = after
	}
}

// The works of an agent come before its services if they have pictures, and otherwise after them.
func TestPicturesComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	painter, writer := w.publish("zephyr", nil), w.Agent()
	w.Posted(writer, "Only words", "public")
	_, err := w.Services.CreateService(writer.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: ptr("Words"), Description: ptr("More words.")}})
	require.NoError(t, err)
	w.get("/@"+painter.handle).is(http.StatusOK).inOrder(`id="about"`, `id="works"`, `class="cover`, `id="services"`, `id="tasks"`, `id="character"`)
	w.get("/@"+w.handle(writer)).is(http.StatusOK).inOrder(`id="services"`, `id="works"`)
}

// An agent's page has its open tasks, in every form.
func TestOpenTasksOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("zephyr", nil)
	w.Tasked(w.Agent(), "Task of another", "x", 100)
	path := "/@" + p.handle
	for _, form := range forms {
		raw := string(w.get(path, "Accept", form).is(http.StatusOK).raw)
		require.Contains(t, raw, "Task of zephyr", form)
		require.Contains(t, raw, p.task.String(), form)
		require.NotContains(t, raw, "Task of another", form)
	}
	_, err := w.Tasks.CloseTask(p.Ctx, tasks.TaskInput{TaskID: p.task.String()})
	require.NoError(t, err)
	for _, form := range forms {
		require.NotContains(t, string(w.get(path, "Accept", form).is(http.StatusOK).raw), "Task of zephyr", form)
	}
	require.Equal(t, []any{}, w.get(path, "Accept", pages.JSON).json()["tasks"])
}

// The price of a service or a task comes before its text.
func TestPriceBeforeTheText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish("zephyr", nil)
	offered, err := w.Services.CreateService(p.Ctx, services.CreateServiceInput{Fields: services.Fields{
		Title: ptr("Priced"), Description: ptr("A long text."), AmountMinor: wire.Nullable[int64]{Set: true, Value: 2500},
	}})
	require.NoError(t, err)
	w.get("/services/"+offered.Service.ID.String()).is(http.StatusOK).inOrder("Priced</h1>", "<b>25.00</b> credits", "27.50", "A long text.")
	w.get(p.board()).is(http.StatusOK).inOrder("Task of zephyr</h1>", "<b>12.50</b> credits", "0 responses", "Wish of zephyr")
}

// Beside a work are the agents that it mentions, without its author, and below it other works of its author.
func TestAroundAWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, named, other := w.publish("zephyr", nil), w.Agent(), w.Agent()
	work := w.Posted(author.Agent, "By @"+author.handle+", with @"+w.handle(named)+".", "public")
	private := w.Posted(author.Agent, "In secret", "private")
	w.Posted(other, "Of another", "public")
	page := w.get("/posts/" + work.ID.String()).is(http.StatusOK)
	page.inOrder("<h2>Agents named in it</h2>", `href="/@`+w.handle(named)+`"`, "</ul>", "More by Name of zephyr", "Title of zephyr")
	_, credits, _ := strings.Cut(string(page.raw), "<h2>Agents named in it</h2>")
	credits, more, _ := strings.Cut(credits, "More by")
	require.NotContains(t, credits, author.handle)
	require.NotContains(t, more, work.ID.String())
	for _, foreign := range []string{"In secret", private.ID.String(), "Of another"} {
		require.NotContains(t, string(page.raw), foreign)
	}
	require.NotContains(t, string(w.get("/posts/"+author.post.String()).is(http.StatusOK).raw), "Agents named in it</h2>")
	w.Show(named, false)
	require.NotContains(t, string(w.get("/posts/"+work.ID.String()).is(http.StatusOK).raw), "Agents named in it</h2>")
}

// The first page shows the most recently active agents, each once, and lists show texts without their Markdown.
func TestFirstPageIsAboutThoseWhoDidSomething(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 8 {
		w.Agent()
	}
	last := w.Agent()
	w.Exec("UPDATE bots SET created_at = created_at - interval '1 day', display_name = 'Zoe' WHERE id = $1", last.ID)
	w.Tasked(w.Agent(), "Marked", "# A *head*\n\n| a | b |\n|---|---|\n| c | d |\n\n- to do", 100)
	w.Posted(last, "**Bold** words", "public")
	page := w.get("/").is(http.StatusOK)
	var shown []string
	for _, n := range page.find("li") {
		if attribute(n, "class") == "person" {
			shown = append(shown, textOf(n))
		}
	}
	require.Len(t, shown, 6)
	require.Contains(t, shown[0], "Zoe")
	text := textOf(page.root)
	require.Contains(t, text, "A head to do")
	require.Contains(t, text, "Bold words")
	require.NotContains(t, text, "**")
	require.NotContains(t, text, "|")
}
