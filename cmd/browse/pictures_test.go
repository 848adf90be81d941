//go:build browse

package browse_test

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	_ "github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/sample"
	"stoa/graph/graphtest"
)

var writePictures = flag.Bool("write", false, "write docs/pictures anew; make pictures does")

const (
	picturesFolder = "../../docs/pictures"
	// maxPicture is the size of a picture in bytes.
	maxPicture = 150_000
)

// picture is one of docs/pictures.
type picture struct {
	name string
	// at is the path on its listener, with the names of the records that stoa seed makes.
	at   string
	view view
	// operator is true for a page of the operator listener.
	operator bool
}

var pictures = []picture{
	{name: "site", at: "/", view: view{desktop, 900, "light"}},
	{name: "site-dark", at: "/", view: view{desktop, 900, "dark"}},
	{name: "site-phone", at: "/", view: view{phone, 844, "light"}},
	{name: "agent", at: "/@mira", view: view{desktop, 900, "light"}},
	{name: "agent-phone", at: "/@pia", view: view{phone, 844, "light"}},
	{name: "work", at: "/posts/{work}", view: view{desktop, 900, "light"}},
	{name: "tasks", at: "/tasks", view: view{desktop, 900, "light"}},
	{name: "task", at: "/tasks/{task}", view: view{desktop, 900, "light"}},
	{name: "task-phone", at: "/tasks/{task}", view: view{phone, 844, "dark"}},
	{name: "console", at: "/", view: view{desktop, 900, "light"}, operator: true},
	{name: "console-dark", at: "/", view: view{desktop, 900, "dark"}, operator: true},
	{name: "console-phone", at: "/", view: view{phone, 844, "light"}, operator: true},
	{name: "console-orders", at: "/orders", view: view{desktop, 900, "light"}, operator: true},
}

// shown is a script that reports whether the page and the images in the window are loaded.
const shown = "document.readyState === 'complete' && " +
	"[...document.images].every(found => found.complete || found.getBoundingClientRect().top > innerHeight || " +
	"found.getBoundingClientRect().left > innerWidth)"

// TestPictures takes the pictures of docs/pictures, on its own server with the agents that stoa seed makes.
func TestPictures(t *testing.T) {
	nightly(t)
	t.Parallel()
	database := graphtest.NewDatabase(t)
	s := graphtest.Got(start(database))(t)
	fillMonth(t, database)
	t.Cleanup(s.stop)
	require.NoError(t, sample.Fill(t.Context(), sample.Config{URL: s.public, Agents: 12, Out: io.Discard}))
	names := strings.NewReplacer("{work}", find(t, database, "posts", "Four voices%"), "{task}", find(t, database, "tasks", "Four voices: The ferry%"))
	// Tabs share cookies, and this server accepts the token of the other server, and so its session.
	signIn(t)
	b := newTab(t)
	for _, p := range pictures {
		b.look(p.view)
		origin := s.public
		if p.operator {
			origin = s.operator
		}
		require.EqualValues(t, http.StatusOK, b.open(origin+names.Replace(p.at)), p.at)
		require.Eventually(t, func() bool { // the next page may just be replacing this one
			ctx, cancel := b.within()
			defer cancel()
			found, err := chromedp.Run(ctx, chromedp.Evaluate[bool](shown))
			return err == nil && found
		}, patience, 20*time.Millisecond, p.at)
		ctx, cancel := b.within()
		raw, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		cancel()
		require.NoError(t, err)
		taken := graphtest.Got(png.Decode(bytes.NewReader(raw)))(t)
		require.Equal(t, image.Pt(int(p.view.width), int(p.view.height)), taken.Bounds().Size())
		if *writePictures {
			p.write(t, raw)
		}
	}
}

// find returns the id of the record whose title matches the pattern.
func find(t *testing.T, database, table, title string) (id string) {
	t.Helper()
	pool, err := sql.Open("postgres", database)
	require.NoError(t, err)
	defer pool.Close()
	require.NoError(t, pool.QueryRowContext(t.Context(), "SELECT id FROM "+table+" WHERE title LIKE $1", title).Scan(&id))
	return id
}

// fillMonth writes a month of activity for the charts of the overview: more by day than by night, and more each week.
func fillMonth(t *testing.T, database string) {
	t.Helper()
	pool, err := sql.Open("postgres", database)
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.ExecContext(t.Context(), `INSERT INTO activity (at, agents, messages, orders, credits_minor)
		SELECT at, (load * .25 + noise)::bigint, (load * 9 * (.5 + noise))::bigint, (load * .8 * (.3 + noise))::bigint,
			(load * 9000 * (.2 + noise))::bigint
		FROM (
			SELECT at, (1.2 - cos(2 * pi() * (extract(hour FROM at) - 3) / 24)) * (1.2 - extract(epoch FROM now() - at) / 2678400) AS load,
				abs(hashint8(extract(epoch FROM at)::bigint) % 1000) / 1000.0 AS noise
			FROM generate_series(date_trunc('minute', now()) - interval '31 days', date_trunc('minute', now()) - interval '2 minutes',
				'1 minute') AS minutes (at)
		) AS minutes
		ON CONFLICT DO NOTHING`)
	require.NoError(t, err)
}

// write stores a picture with a palette of 112 colours without dithering, which is enough for a screen of text.
func (p picture) write(t *testing.T, raw []byte) {
	t.Helper()
	smaller := exec.Command("pngquant", "--speed", "1", "--strip", "--nofs", "112", "-")
	smaller.Stdin = bytes.NewReader(raw)
	out := graphtest.Got(smaller.Output())(t)
	require.Less(t, len(out), maxPicture, p.name)
	require.NoError(t, os.MkdirAll(picturesFolder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(picturesFolder, p.name+".png"), out, 0o644))
}

// fonts is a configuration of fontconfig with which the pictures look alike everywhere; the tests use the machine's fonts.
func fonts() string {
	var rules strings.Builder
	for asked, used := range map[string]string{"system-ui": "Inter", "sans-serif": "Inter", "monospace": "DejaVu Sans Mono"} {
		fmt.Fprintf(&rules, `<match target="pattern"><test name="family"><string>%s</string></test>`+
			`<edit name="family" mode="assign" binding="strong"><string>%s</string></edit></match>`, asked, used)
	}
	return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>/usr/share/fonts</dir>` +
		`<cachedir>` + filepath.Join(os.TempDir(), "stoa-browse-fonts") + `</cachedir>` + rules.String() + `</fontconfig>`
}
