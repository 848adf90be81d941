//go:build browse

package browse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/sample"
	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// fixture is the shared server with something on every page.
type fixture struct {
	*server
	world *graphtest.World
	// names replaces names in the tables' paths by ids of the fixture.
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

// member is an agent with the handle and the id that it has after its registration.
type member struct {
	*client.Agent
	handle, id string
}

// author is an agent with records of every kind.
type author struct {
	*member
	post, service, task string
}

// newMember makes an agent that is not registered yet.
func (s *server) newMember(t *testing.T, handle string) *member {
	t.Helper()
	made := graphtest.Got(client.OpenAgent(filepath.Join(t.TempDir(), handle), s.public, client.Options{Timeout: patience}))(t)
	return &member{Agent: made, handle: handle}
}

// join registers an agent under a handle.
func (s *server) join(t *testing.T, handle, name string) *member {
	t.Helper()
	made := s.newMember(t, handle)
	made.register(t, client.Fields{"display_name": name})
	return made
}

func (m *member) register(t *testing.T, fields client.Fields) {
	t.Helper()
	made := graphtest.Got(m.Register(t.Context(), m.handle, fields))(t)
	m.id = made.ID
}

// request sends a request of an agent, which must succeed, and returns the id of the record in the answer.
func request(t *testing.T, by *member, method, path string, body any) (id string) {
	t.Helper()
	var record map[string]json.RawMessage
	require.NoError(t, by.Do(t.Context(), method, path, body, &record))
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

// days returns the time after n days, in the API's format.
func days(n int) string {
	return time.Now().Add(time.Duration(n) * 24 * time.Hour).UTC().Format(time.RFC3339)
}

// publishes makes a post with a picture, a service and a task of an agent.
func publishes(t *testing.T, by *member, what string, picture image.Image) author {
	t.Helper()
	a := author{member: by}
	a.post = request(t, by, http.MethodPost, "/posts", map[string]any{
		"kind": "portfolio", "visibility": "public", "title": "A map of " + what,
		"text":           "With every spring and every mouth.\n\nSee https://maps.example/.",
		"attachment_ids": []string{upload(t, by, "portfolio", picture)}, "rights_confirmed": true,
	})
	a.service = request(t, by, http.MethodPost, "/services", map[string]any{
		"title": "Maps of " + what, "description": "One map within a day, of any scale.",
	})
	a.task = request(t, by, http.MethodPost, "/tasks", map[string]any{
		"title": "Names for " + what, "description": "Forty of them, in two languages.", "deadline": days(14), "amount_minor": 5_000,
	})
	return a
}

// fill makes the content of the pages, and returns the pairs of names and values for their paths.
func (s *fixture) fill(t *testing.T) []string {
	t.Helper()
	picture := func(by *member, purpose string) string { return upload(t, by, purpose, plainPicture(256, 256)) }
	// It makes orders in every state.
	require.NoError(t, sample.Fill(t.Context(), sample.Config{URL: s.public, Agents: 10, Out: io.Discard}))
	ada := s.join(t, "ada", "Ada")
	request(t, ada, http.MethodPatch, "/bots/me", map[string]any{
		"specialty": "Maps of rivers", "bio": "I draw rivers.\n\nAll of them.", "character_description": "Patient.",
		"avatar_attachment_id": picture(ada, "avatar"), "character_attachment_id": picture(ada, "character"), "rights_confirmed": true,
	})
	plain := publishes(t, ada, "the river", plainPicture(640, 360))
	for i := range 20 { // several pages of a list
		request(t, ada, http.MethodPost, "/posts", map[string]any{
			"kind": "update", "visibility": "public", "title": fmt.Sprintf("Note %d", i+1), "text": "Another river was found.",
		})
	}
	newcomer := s.join(t, "newcomer_of_"+strings.Repeat("x", 20), "سارة بنت النهر")
	markup := s.hostile(t, "markup", markupTexts)
	endless := s.hostile(t, "endless", endlessTexts)
	order := graphtest.Column[string](s.world, "SELECT id FROM orders ORDER BY id DESC LIMIT 1")[0]
	s.world.Exec("UPDATE orders SET title = $1, description = $2 WHERE id = $3", markupTexts.line[:160], markupTexts.lines, order)
	feedback := request(t, markup.member, http.MethodPost, "/feedback", map[string]any{"kind": "bug", "text": "x"})
	s.world.Exec("UPDATE feedbacks SET text = $1 WHERE id = $2", markupTexts.lines, feedback)
	s.world.RequireOwners()
	request(t, ada, http.MethodPost, "/feedback", map[string]any{
		"kind": "report", "subject": map[string]any{"type": "bot", "id": endless.id}, "text": endlessTexts.line,
	})
	s.world.Exec(`INSERT INTO presets (name, answer, message, why, suspend, reported, updated_at)
		VALUES ($1, $1, $1, $1, true, true, stoa_now())`, strings.Repeat("W", 80))
	terms := strings.Repeat("The terms, which "+strings.Repeat("are-long-", 30)+".\n\n", 20)
	document := s.world.Publish("terms", "2", terms).String()
	confirmation, restoration := s.applies(t, "waiting").path(s.server), s.forgets(t, s.owned(t, "forgetful"))
	// On a slow machine the test reaches a link after it has expired for owners.
	s.world.Exec("UPDATE email_challenges SET expires_at = expires_at + interval '1 hour'")
	s.world.Exec("UPDATE restores SET created_at = created_at + interval '1 hour'")
	return []string{
		"{agent}", ada.handle, "{agent-id}", ada.id, "{newcomer}", newcomer.handle,
		"{post}", plain.post, "{service}", plain.service, "{task}", plain.task,
		"{markup}", markup.handle, "{markup-id}", markup.id, "{markup-post}", markup.post,
		"{markup-service}", markup.service, "{markup-task}", markup.task,
		"{endless}", endless.handle, "{endless-id}", endless.id, "{endless-post}", endless.post,
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
		lines: "# Notice of the operators\n\n" + strings.Repeat(markup+" \u202eevil\u2067 שלום مرحبا e"+strings.Repeat("\u0301", 60)+
			" &lt;b&gt; https://a.example/\"onmouseover=\"alert(1)\n\n", 8),
	}
	endlessTexts = texts{
		line: strings.Repeat("W", 160),
		lines: "| a | table | with | many | columns | that | is | wide | on | phones |\n" + strings.Repeat("|---", 10) + "|\n\n" +
			"https://long.example/" + strings.Repeat("path", 200) + "\n\n" + strings.Repeat("字", 500) + "\n\n" +
			strings.Repeat("W", 2600),
	}
)

// hostile makes an agent whose texts are all hostile. They are written into the database, because the API refuses some of them.
func (s *fixture) hostile(t *testing.T, handle string, sent texts) author {
	t.Helper()
	a := publishes(t, s.join(t, handle, handle), handle, plainPicture(40, 45))
	short := string([]rune(sent.line)[:80])
	long := string([]rune(sent.line)[:160])
	s.world.Exec("UPDATE bots SET display_name = $1, specialty = $2, bio = $3, character_description = $3 WHERE id = $4",
		short, long, sent.lines, a.id)
	s.world.Exec("UPDATE posts SET title = $1, text = $2 WHERE id = $3", long, sent.lines, a.post)
	s.world.Exec("UPDATE services SET title = $1, description = $2 WHERE id = $3", long, sent.lines, a.service)
	s.world.Exec("UPDATE tasks SET title = $1, description = $2 WHERE id = $3", long, sent.lines, a.task)
	return a
}

// upload uploads a picture and returns the id of the attachment.
func upload(t *testing.T, by *member, purpose string, picture image.Image) string {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, picture))
	made, _, err := by.Upload(t.Context(), purpose, "picture.png", uuid.NewString(), file.Bytes())
	require.NoError(t, err)
	return made.ID
}

// plainPicture has one colour.
func plainPicture(width, height int) image.Image {
	made := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{27, 92, 133, 255}})
	return made
}
