package owner_test

import (
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/slack"
	"stoa/rest"
)

// Each path allows some methods, and traces name its route.
func TestMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, mail := w.apply("echo")
	document := "/owner/documents/" + w.Publish("terms", "2", "text").String()
	for path, allow := range map[string]string{
		mail.path: "GET, HEAD, POST, OPTIONS", "/owner/restore": "GET, HEAD, POST, OPTIONS", document: "GET, HEAD, OPTIONS",
		document + ".txt": "GET, HEAD, OPTIONS",
	} {
		got, head := w.get(path).status(http.StatusOK), w.send(http.MethodHead, path, "").status(http.StatusOK)
		require.Empty(t, head.raw)
		for _, same := range []string{"Content-Type", "Content-Length", "Cache-Control", "Content-Security-Policy"} {
			require.Equal(t, got.header.Get(same), head.header.Get(same), same)
		}
		options := w.send(http.MethodOptions, path, "").status(http.StatusNoContent)
		require.Equal(t, allow, options.header.Get("Allow"))
		refused := w.send(http.MethodPut, path, "").status(http.StatusMethodNotAllowed)
		require.Equal(t, allow, refused.header.Get("Allow"))
		require.Equal(t, "That does not work here", refused.title())
	}
	w.submit(mail.path).status(http.StatusOK)
	var names []string
	for _, span := range w.spans.Ended() {
		names = append(names, span.Name())
	}
	require.Subset(t, names, []string{"GET /owner/confirm/{id}/{token}", "POST /owner/confirm/{id}/{token}"})
	for _, nothing := range []string{"/owner/", "/owner/x", "/owner/confirm/x", "/owner/restore/", "/%6Fwner/x"} {
		require.Equal(t, "There is no such page", w.get(nothing).status(http.StatusNotFound).title(), nothing)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, mail := w.apply("echo")
	before := w.rows()
	for _, path := range []string{mail.path, "/owner/restore"} {
		for _, headers := range [][]string{
			nil, {"Content-Type", "application/json"}, {"Content-Type", "text/plain"}, {"Content-Type", "multipart/form-data; boundary=x"},
			{"Content-Type", formType, "Content-Encoding", "gzip"},
		} {
			require.Equal(t, "That does not work here",
				w.send(http.MethodPost, path, "handle=echo", headers...).status(http.StatusUnsupportedMediaType).title())
		}
		large := "document=" + strings.Repeat("x", 8<<10)
		require.Equal(t, "That was too much",
			w.send(http.MethodPost, path, large, "Content-Type", formType).status(http.StatusRequestEntityTooLarge).title())
		require.Equal(t, "The form did not arrive whole",
			w.send(http.MethodPost, path, "handle=%", "Content-Type", formType).status(http.StatusBadRequest).title())
	}
	require.Equal(t, before, w.rows())
}

func TestStylesheet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sheet := w.get("/style.css").status(http.StatusOK)
	require.Equal(t, "text/css; charset=utf-8", sheet.header.Get("Content-Type"))
	require.Equal(t, "public, max-age=300", sheet.header.Get("Cache-Control"))
	require.Equal(t, pages.Stylesheet, sheet.raw)
	require.NotContains(t, string(sheet.raw), "url(")
	w.send(http.MethodGet, "/style.css", "", "If-None-Match", sheet.header.Get("ETag")).status(http.StatusNotModified)
}

// Text colours have a contrast of at least 4.5 to their backgrounds, light and dark (WCAG AA).
func TestContrast(t *testing.T) {
	t.Parallel()
	light, dark, found := strings.Cut(string(pages.Stylesheet), "prefers-color-scheme: dark")
	require.True(t, found)
	for name, sheet := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, c := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(sheet, -1) {
			colours[c[1]] = luminance(t, c[2])
		}
		for _, pair := range []string{
			"text ground", "text panel", "quiet ground", "quiet panel", "accent ground", "accent panel", "on-accent accent", "wrong ground",
		} {
			front, back, _ := strings.Cut(pair, " ")
			require.Contains(t, colours, front)
			require.Contains(t, colours, back)
			a, b := colours[front], colours[back]
			require.GreaterOrEqual(t, (max(a, b)+.05)/(min(a, b)+.05), 4.5, "%s: %s", name, pair)
		}
	}
}

func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	for i, weight := range []float64{.2126, .7152, .0722} {
		value := graphtest.Got(strconv.ParseUint(colour[2*i:2*i+2], 16, 8))(t)
		channel := float64(value) / 255
		if channel <= .03928 {
			channel /= 12.92
		} else {
			channel = math.Pow((channel+.055)/1.055, 2.4)
		}
		sum += weight * channel
	}
	return sum
}

// Failures are pages, too, and their log lines hold no secret of a link (requireNoSecrets).
func TestFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, mail := w.apply("echo")
	w.Exec("ALTER TABLE email_challenges RENAME TO away")
	for _, defect := range []*page{
		w.send(http.MethodGet, mail.path, "", "X-Request-Id", "my-request"),
		w.send(http.MethodPost, mail.path, "", "X-Request-Id", "my-request", "Content-Type", formType),
	} {
		require.Equal(t, "Something went wrong", defect.status(http.StatusInternalServerError).says("my-request").title())
		require.NotContains(t, string(defect.raw), "email_challenges")
	}
	require.Contains(t, w.logged(), "path=/owner/confirm/{id}/{token}")
	w.Exec("ALTER TABLE away RENAME TO email_challenges")

	away := w.Outage()
	for _, path := range []string{mail.path, "/owner/restore", "/owner/documents/0190a5d4-7c1e-7000-8000-0123456789ab"} {
		refused := w.get(path).status(http.StatusServiceUnavailable)
		require.Equal(t, "Stoa is not available at the moment", refused.title())
		require.Equal(t, "2", refused.header.Get("Retry-After"))
	}
	away()
	require.Eventually(t, func() bool { return w.get(mail.path).code == http.StatusOK }, slack.TestWait, 10*time.Millisecond)

	starting := w.config()
	starting.Graph, starting.Starting = nil, true
	at := w.serve(starting)
	for _, p := range []*page{w.get(at + mail.path), w.post(at+mail.path, url.Values{})} {
		require.Equal(t, "Stoa is not available at the moment", p.status(http.StatusServiceUnavailable).title())
	}
	require.Contains(t, w.logged(), "path=/owner/*")
	w.get(at + "/style.css").status(http.StatusOK)
	without := w.serve(rest.Config{Logger: starting.Logger, Draining: starting.Draining})
	require.Equal(t, "There is no such page", w.get(without+mail.path).status(http.StatusNotFound).title())
}
