//go:build browse

package browse_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/cmd/stoa/sample"
	"stoa/graph/graphtest"
)

// fixture is the shared server with something on every page.
type fixture struct {
	*server
	world *graphtest.World
	// names puts what was made into the paths of the tables.
	names *strings.Replacer
}

var (
	set     *fixture
	setOnce sync.Once
)

// newFixture returns the fixture, which the first test sets.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	setOnce.Do(func() {
		s, w := sharedServer(t)
		made := &fixture{server: s, world: w}
		made.names = strings.NewReplacer(made.fill(t)...)
		set = made
	})
	require.NotNil(t, set, "the fixture could not be set")
	return set
}

// newest is the id of the newest row of a table.
func (s *fixture) newest(t *testing.T, table string) (id string) {
	t.Helper()
	require.NoError(t, s.world.DB.SQL.QueryRowContext(t.Context(), "SELECT id FROM "+table+" ORDER BY id DESC LIMIT 1").Scan(&id))
	return id
}

// author is an agent that has something of everything.
type author struct {
	*agent.Agent
	post, service, task string
}

// join registers an agent under a handle.
func (s *server) join(t *testing.T, handle, name string) *agent.Agent {
	t.Helper()
	made, err := agent.New(agent.NewServer(s.public, patience), name, handle)
	require.NoError(t, err)
	made.Handle = handle
	require.NoError(t, made.RegisterWith(t.Context(), made.Registration()))
	return made
}

// request is a request of an agent that must have a status; it returns the id of the record that the answer is about.
func request(t *testing.T, by *agent.Agent, method, path string, body any, status int) (id string) {
	t.Helper()
	got, err := by.Send(t.Context(), method, path, body)
	require.NoError(t, err)
	var record map[string]json.RawMessage
	require.NoError(t, got.Into(status, &record))
	for _, value := range record {
		var found struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(value, &found) == nil && found.ID != "" {
			id = found.ID
		}
	}
	return id
}

// days is the time some days from now, as the API takes it.
func days(n int) string {
	return time.Now().Add(time.Duration(n) * 24 * time.Hour).UTC().Format(time.RFC3339)
}

// publishes makes a post with images, a service and a task of an agent.
func publishes(t *testing.T, by *agent.Agent, s *server, what string) author {
	t.Helper()
	a := author{Agent: by}
	picture := s.upload(t, by, "portfolio", plainPicture(640, 360))
	a.post = request(t, by, http.MethodPost, "/posts", map[string]any{
		"kind": "portfolio", "visibility": "public", "title": "A map of " + what,
		"text":           "With every spring and every mouth.\n\nSee https://maps.example/.",
		"attachment_ids": []string{picture}, "rights_confirmed": true,
	}, http.StatusCreated)
	a.service = request(t, by, http.MethodPost, "/services", map[string]any{
		"title": "Maps of " + what, "description": "One map within a day, of any scale.",
	}, http.StatusCreated)
	a.task = request(t, by, http.MethodPost, "/tasks", map[string]any{
		"title": "Names for " + what, "description": "Forty of them, in two languages.", "deadline": days(14), "amount_minor": 5_000,
	}, http.StatusCreated)
	return a
}

// fill makes what the pages show, and returns the pairs of names and values for their paths.
func (s *fixture) fill(t *testing.T) []string {
	t.Helper()
	picture := func(by *agent.Agent, purpose string) string { return s.upload(t, by, purpose, plainPicture(256, 256)) }
	// With orders in every state.
	require.NoError(t, sample.Fill(t.Context(), sample.Filling{Config: sample.Config{URL: s.public}, Agents: 10, Out: io.Discard}))
	ada := s.join(t, "ada", "Ada")
	request(t, ada, http.MethodPatch, "/bots/me", map[string]any{
		"specialty": "Maps of rivers", "bio": "I draw rivers.\n\nAll of them.", "character_description": "Patient.",
		"avatar_attachment_id": picture(ada, "avatar"), "character_attachment_id": picture(ada, "character"), "rights_confirmed": true,
	}, http.StatusOK)
	plain := publishes(t, ada, s.server, "the river")
	for i := range 20 { // several pages of a list
		request(t, ada, http.MethodPost, "/posts", map[string]any{
			"kind": "update", "visibility": "public", "title": fmt.Sprintf("Note %d", i+1), "text": "Another river was found.",
		}, http.StatusCreated)
	}
	s.join(t, "newcomer", "Newcomer")
	markup := s.hostile(t, "markup", markupTexts)
	endless := s.hostile(t, "endless", endlessTexts)
	order := s.newest(t, "orders")
	s.world.Exec("UPDATE orders SET title = $1, description = $2 WHERE id = $3", markupTexts.line[:160], markupTexts.lines, order)
	feedback := request(t, markup.Agent, http.MethodPost, "/feedback", map[string]any{"kind": "bug", "text": "x"}, http.StatusCreated)
	s.world.Exec("UPDATE feedbacks SET text = $1 WHERE id = $2", markupTexts.lines, feedback)
	s.world.RequireOwners()
	terms := strings.Repeat("The terms, which "+strings.Repeat("are-long-", 30)+".\n\n", 20)
	document := s.world.Publish("terms", "2", terms).String()
	confirmation, restoration := s.applies(t, "waiting").path(s.server), s.forgets(t, s.owned(t, "forgetful"))
	// On a slow machine the walk reaches a link later than an owner may.
	s.world.Exec("UPDATE email_challenges SET expires_at = expires_at + interval '1 hour'")
	s.world.Exec("UPDATE restores SET created_at = created_at + interval '1 hour'")
	return []string{
		"{agent}", ada.Handle, "{agent-id}", ada.ID, "{newcomer}", "newcomer",
		"{post}", plain.post, "{service}", plain.service, "{task}", plain.task,
		"{markup}", markup.Handle, "{markup-id}", markup.ID, "{markup-post}", markup.post,
		"{markup-service}", markup.service, "{markup-task}", markup.task,
		"{endless}", endless.Handle, "{endless-post}", endless.post,
		"{endless-service}", endless.service, "{endless-task}", endless.task,
		"{order}", order, "{feedback}", feedback, "{document}", document,
		"{confirmation}", confirmation, "{restoration}", restoration,
	}
}

// texts are written by an agent that wants to break pages: one line and many.
type texts struct{ line, lines string }

const markup = `<script>window.pwned=1;alert(1)</script><img src=x onerror="window.pwned=1"><style>*{display:none}</style>` +
	`</main></body><svg onload=alert(1)>' onmouseover='window.pwned=1 "><iframe src=javascript:alert(1)>`

var (
	markupTexts = texts{
		line: "\u202e\u2066" + markup,
		lines: strings.Repeat(markup+" \u202eevil\u2067 שלום مرحبا e"+strings.Repeat("\u0301", 60)+
			" &lt;b&gt; https://a.example/\"onmouseover=\"alert(1)\n\n", 8),
	}
	endlessTexts = texts{
		line: strings.Repeat("W", 160),
		lines: "https://long.example/" + strings.Repeat("path", 200) + "\n\n" + strings.Repeat("字", 500) + "\n\n" +
			strings.Repeat("W", 2600),
	}
)

// hostile makes an agent all of whose texts are hostile. They are written past the API, which refuses some of them.
func (s *fixture) hostile(t *testing.T, handle string, sent texts) author {
	t.Helper()
	a := publishes(t, s.join(t, handle, handle), s.server, handle)
	short := string([]rune(sent.line)[:80])
	long := string([]rune(sent.line)[:160])
	s.world.Exec("UPDATE bots SET display_name = $1, specialty = $2, bio = $3, character_description = $3 WHERE id = $4",
		short, long, sent.lines, a.ID)
	s.world.Exec("UPDATE posts SET title = $1, text = $2 WHERE id = $3", long, sent.lines, a.post)
	s.world.Exec("UPDATE services SET title = $1, description = $2 WHERE id = $3", long, sent.lines, a.service)
	s.world.Exec("UPDATE tasks SET title = $1, description = $2 WHERE id = $3", long, sent.lines, a.task)
	return a
}

// upload uploads a picture and returns the id of the attachment.
func (s *server) upload(t *testing.T, by *agent.Agent, purpose string, picture image.Image) string {
	t.Helper()
	var body bytes.Buffer // writes to it cannot fail
	form := multipart.NewWriter(&body)
	_ = form.WriteField("purpose", purpose)
	_ = form.WriteField("upload_id", uuid.NewString())
	part, _ := form.CreateFormFile("file", "picture.png")
	require.NoError(t, png.Encode(part, picture))
	_ = form.Close()
	asked, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.public+"/api/v1/attachments", &body)
	require.NoError(t, err)
	asked.Header.Set("Content-Type", form.FormDataContentType())
	asked.Header.Set("Authorization", "Bearer "+by.Token)
	response, err := http.DefaultClient.Do(asked)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusCreated, response.StatusCode)
	var made struct {
		Attachment struct {
			ID string `json:"id"`
		} `json:"attachment"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&made))
	return made.Attachment.ID
}

// plainPicture has one colour.
func plainPicture(width, height int) image.Image {
	made := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{27, 92, 133, 255}})
	return made
}
