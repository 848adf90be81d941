package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/viewer"
)

// report reports an agent, or a post.
func (w *world) report(by *graphtest.Agent, kind string, id uuid.UUID) {
	w.Reported(by, kind, id, "It asks for tokens. "+hostile)
}

// An operator handles sixteen reports about four agents in nine clicks from the overview on: one opens the first case; in each
// case one chooses a preset and one submits it, which opens the next case.
func TestSixteenReportsInNineClicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("INSERT INTO presets VALUES ('Swindle & co', 'We suspended it.', 'You asked for tokens.', 'a swindler', true, true, stoa_now())")
	var reporters, swindlers []*graphtest.Agent
	for range 4 {
		reporters, swindlers = append(reporters, w.Agent()), append(swindlers, w.Agent())
	}
	for _, swindler := range swindlers {
		post := w.Posted(swindler, "send me your tokens", "public")
		for i, by := range reporters {
			if i == 0 {
				w.report(by, "post", post.ID)
				continue
			}
			w.report(by, "bot", swindler.ID)
		}
	}
	clicks := 0
	click := func(page, pattern string) string {
		clicks++
		found := regexp.MustCompile(pattern).FindStringSubmatch(page)
		require.NotNil(t, found, "%s on %s", pattern, page)
		return strings.ReplaceAll(found[1], "&amp;", "&")
	}
	follow := func(path string) (string, string) {
		answer := w.get(path)
		for answer.StatusCode == http.StatusSeeOther {
			path = answer.Header.Get("Location")
			answer = w.get(path)
		}
		require.Equal(t, http.StatusOK, answer.StatusCode, answer.text)
		return path, answer.text
	}
	path, page := follow(click(w.get("/").text, `<a href="(/cases/next)">`))
	for i := range swindlers {
		require.Contains(t, page, "<b>4 open</b> by 4 reporters")
		require.NotContains(t, page, "<script>alert")
		if i > 0 {
			w.shows(page, fmt.Sprintf(`<a href="/agents/%s">@%s</a>: suspended, 1 reported thing removed, 4 reports answered, message sent.`,
				swindlers[i-1].ID, w.handle(swindlers[i-1])))
		}
		path, _ = follow(click(page, `href="([^"]*preset=Swindle[^"]*)"`))
		action, fields := w.form(w.page(path))
		require.Equal(t, "true", fields.Get("suspend"))
		require.Equal(t, "a swindler", fields.Get("reason"))
		require.NotEqual(t, "true", fields.Get("name"))
		clicks++
		done := w.post(action, fields)
		require.Equal(t, http.StatusSeeOther, done.StatusCode, done.text)
		path, page = follow(done.Header.Get("Location"))
	}
	require.Equal(t, "/cases?done="+swindlers[3].ID.String(), path)
	w.shows(content(w.page("/audit")), "suspended, 1 reported thing removed, 4 reports answered, message sent")
	require.Contains(t, page, "No report waits")
	require.LessOrEqual(t, clicks, 12)
	require.EqualValues(t, 16, w.Count("SELECT count(*) FROM feedbacks WHERE state = 'answered' AND answer = 'We suspended it.'"))
	require.EqualValues(t, 16, w.Count("SELECT count(*) FROM events WHERE kind = 'feedback.answered'"))
	require.EqualValues(t, 4, w.Count("SELECT count(*) FROM bots WHERE suspended_at IS NOT NULL"))
	require.Zero(t, w.Count("SELECT count(*) FROM posts WHERE deleted_at IS NULL"))
	require.EqualValues(t, 4, w.Count("SELECT count(*) FROM notices WHERE text = 'You asked for tokens.'"))
	require.EqualValues(t, 4, w.Count("SELECT count(*) FROM audit_entries"))
}

// A case can be skipped, a later report than the page stays open, and a refused form keeps the case.
func TestACaseAnswersOnlySeenReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	by, late, first, second := w.Agent(), w.Agent(), w.Agent(), w.Agent()
	w.report(by, "bot", first.ID)
	w.report(by, "bot", second.ID)
	at := func(of *graphtest.Agent) string { return "/procedures/moderateBot?id=" + of.ID.String() }
	for after, next := range map[string]string{"": at(first), first.ID.String(): at(second), second.ID.String(): "/cases?", "x": at(first)} {
		require.Equal(t, next, w.get("/cases/next?after="+after).Header.Get("Location"), after)
	}
	action, fields := w.form(w.page(at(first)))
	w.report(late, "bot", first.ID)
	fields.Set("answer", "Thank you.")
	refused := w.post(action, fields)
	require.Equal(t, http.StatusBadRequest, refused.StatusCode)
	require.Contains(t, refused.text, "Open reports")
	fields.Set("reason", "nothing bad")
	done := w.post(action, fields)
	require.Equal(t, http.StatusSeeOther, done.StatusCode, done.text)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM feedbacks WHERE subject_bot_id = $1 AND state = 'open' AND bot_id = $2", first.ID, late.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM feedbacks WHERE state = 'answered'"))

	late.Ctx = viewer.With(late.Ctx, viewer.Viewer{Kind: viewer.Operator, Name: "Kim"})
	action, fields = w.form(w.page(at(first)))
	graphtest.OK(t)(w.Operator.SuspendBot(late.Ctx, first.ID, nil, "a swindler"))
	fields.Set("answer", "Thank you.")
	fields.Set("reason", "nothing bad")
	overtaken := w.post(action, fields)
	require.Equal(t, http.StatusConflict, overtaken.StatusCode)
	w.shows(overtaken.text, "Kim did “Suspend agent” less than a minute ago. Look again", "nothing bad")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM feedbacks WHERE state = 'answered'"))
	_, fields = w.form(w.parse(overtaken.text))
	require.Equal(t, http.StatusSeeOther, w.post(action, fields).StatusCode, "the operator has looked again")

	require.Contains(t, w.get("/procedures/noteBot?id="+first.ID.String()).text, `<label for="f-reason">Note`)
	w.post("/procedures/noteBot?id="+first.ID.String(), url.Values{"reason": {"Wrote to us by mail."}})
	require.Contains(t, w.get("/agents/"+first.ID.String()).text, "Wrote to us by mail.")
	require.Contains(t, w.get("/cases").text, fmt.Sprintf(`<a href="%s">@%s</a>`, at(second), w.handle(second)))
}

// A case shows its agent, the reported things, and which reporters are suspended. Without reports the form shows the agent, too.
func TestACaseShowsTheReportedThings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	by, subject := w.Agent(), w.Agent()
	w.Exec("UPDATE bots SET display_name = 'Swift Sam', specialty = 'Fast loans', bio = 'Send me your token.', character_description = 'A banker.' WHERE id = $1", subject.ID)
	at := "/procedures/moderateBot?id=" + subject.ID.String()
	w.shows(w.get(at).text, "Swift Sam", "Fast loans", "Send me your token.", "A banker.", `<span class="state">active</span>`, "Effects of a suspension", "/faces/"+subject.ID.String(),
		"It has no open orders.", `<h1 dir="auto">Moderate agent</h1>`)
	require.NotContains(t, w.get(at).text, "Its\nopen orders stay")
	w.Tasked(subject, "Lend me more", strings.Repeat("x", 119)+"yz", 100)
	require.Regexp(t, `\Wx{119}…\W`, w.get("/agents/"+subject.ID.String()).text, "a text that is cut says so")
	task := w.Tasked(subject, "Lend me credits", "I pay back.", 100)
	id := uuid.MustParse(task.ID.String())
	w.report(by, "task", id)
	w.report(by, "bot", subject.ID)
	w.report(w.Agent(), "post", w.Posted(subject, "I am the support.", "public").ID)
	w.report(w.Agent(), "bot", by.ID)
	page := w.get(at).text
	require.NotContains(t, page, "since</span>")
	w.shows(page, `<h1 dir="auto">Case of @`+w.handle(subject)+`</h1>`, `<a href="/cases" aria-current="page">`, `<a href="/cases">Cases</a>: 1 of 2`,
		`<a href="/agents/`+subject.ID.String()+`">@`+w.handle(subject)+`</a>`, `<bdi class="long">I pay back.</bdi>`, `<bdi class="long">I am the support.</bdi>`,
		`id="f-suspend"`, ">Moderate agent</button>")
	w.Exec("UPDATE bots SET updated_at = (SELECT max(created_at) + interval '1 microsecond' FROM feedbacks) WHERE id = $1", subject.ID)
	require.Regexp(t, `the agent\S* <span class="state ill">changed since</span>`, w.get(at).text)
	w.Exec("UPDATE feedbacks SET created_at = created_at - interval '1 hour'")
	w.Exec("UPDATE posts SET updated_at = updated_at - interval '1 hour'")
	w.Responded(by, id)
	kim := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "Kim"})
	for _, one := range []*graphtest.Agent{by, subject} {
		graphtest.OK(t)(w.Operator.SuspendBot(kim, one.ID, nil, "spam"))
	}
	require.NotContains(t, w.get(at).text, "since</span>", "neither the task nor the agent changed its texts")
	w.Exec("UPDATE posts SET text = 'Hello.', updated_at = stoa_now()")
	w.Exec("UPDATE bots SET display_name = 'Stoa Support' WHERE id = $1", subject.ID)
	graphtest.OK(t)(w.Operator.RemoveTask(kim, id, nil, "spam"))
	page = w.get(at).text
	require.Equal(t, 1, strings.Count(page, `<span class="state ill">changed since</span>`))
	w.shows(page, `<span class="state ill">deleted since</span><br><bdi class="long">I pay back.</bdi>`, `looks like the platform</span>`)
	require.NotContains(t, page, `id="f-suspend"`)
	w.shows(page, "@"+w.handle(by)+`</a> <span class="state ill">suspended</span>`, `task <a href="/tasks/`+id.String()+`"><bdi>Lend me credits</bdi></a>`, "the agent")
	require.NotContains(t, page, "Effects of a suspension")
	accessible(t, at, w.parse(page))
	done := w.do(at, "answer", "Thank you.", "reason", "seen to")
	require.Equal(t, http.StatusSeeOther, done.StatusCode, done.text)
}

// After an operator writes a preset from a case, the page leads back to the case, with the preset's texts and ticks filled in.
// The link Edit fills in the form of the preset, which replaces the preset.
func TestAPresetOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	subject := w.Agent()
	w.report(w.Agent(), "bot", subject.ID)
	at := "/procedures/moderateBot?id=" + subject.ID.String()
	write := "/procedures/writePreset?case=" + subject.ID.String()
	require.Contains(t, w.get(at).text, `href="`+write+`"`)
	require.Contains(t, w.get(write).text, `<a href="`+at+`">Back to the case</a>`)
	require.Equal(t, http.StatusBadRequest, w.do(write, "reason", "why").StatusCode)
	done := w.do(write, "name", " Swindle & co ", "why", "a swindler", "clearTexts", "true", "kinds", "POSTS", "reason", "for all")
	require.Equal(t, http.StatusSeeOther, done.StatusCode, done.text)
	back := done.Header.Get("Location")
	require.Equal(t, at+"&preset=Swindle+%26+co", back)
	_, fields := w.form(w.page(back))
	require.Equal(t, []any{"a swindler", "true", "", "POSTS"}, []any{fields.Get("reason"), fields.Get("texts"), fields.Get("name"), fields.Get("kinds")})

	path := "/procedures/writePreset?preset=Swindle%20%26%20co"
	require.Contains(t, w.get("/cases").text, `<a href="`+strings.ReplaceAll(path, "&", "&amp;")+`">Edit`)
	action, fields := w.form(w.page(path))
	require.NotEmpty(t, fields.Get("latest"))
	fields.Del("latest")
	require.Equal(t, url.Values{"name": {"Swindle & co"}, "answer": {""}, "message": {""}, "why": {"a swindler"}, "suspend": {}, "reported": {}, "clearName": {},
		"clearTexts": {"true"}, "clearImages": {}, "kinds": {"POSTS"}, "replace": {"true"}, "reason": {""}}, fields)
	fields.Set("answer", "It is gone.")
	fields.Set("reason", "shorter")
	require.Equal(t, http.StatusOK, w.post(action, fields).StatusCode)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM presets WHERE answer = 'It is gone.'"))
}

// The notice of a bulk act adds up the audit entries of its batches only. A message that was sent within a day is not sent again,
// and the page and the audit log report it.
func TestABulkActIsReportedWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spammer := w.Agent()
	post := func(times int) {
		w.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'update', 'public', 'spam', 'spam' FROM generate_series(1, $2)`, spammer.ID, times)
	}
	remove := func(message string) string {
		return w.do("/procedures/removeContent?id="+spammer.ID.String(), "kinds", "POSTS", "message", message, "reason", "spam").text
	}
	post(1)
	require.Contains(t, remove("Stop."), "Done, and in the audit log: 1 post removed, message sent.")
	post(101)
	require.Contains(t, remove("Stop now."), "Done, and in the audit log: 101 posts removed, message sent.")
	require.EqualValues(t, 3, w.Count("SELECT count(*) FROM audit_entries WHERE procedure = 'removeContent'"))

	for message, sent := range map[string]string{"It is enough.": "message sent.", "Stop now.": "message not sent: the same within a day."} {
		w.report(w.Agent(), "bot", spammer.ID)
		post(101)
		done := w.do("/procedures/moderateBot?id="+spammer.ID.String(), "kinds", "POSTS", "answer", "Thank you.", "message", message, "reason", "spam")
		last := w.get(done.Header.Get("Location"))
		w.shows(w.get(last.Header.Get("Location")).text, "101 posts removed, 1 report answered, "+sent)
	}
	require.Contains(t, content(w.page("/audit")), "message not sent: the same within a day")
}

// handle returns the handle of an agent.
func (w *world) handle(of *graphtest.Agent) string {
	return graphtest.Got(w.DB.Ent.Bot.Get(w.t.Context(), of.ID))(w.t).Handle
}
