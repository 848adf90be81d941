package owner_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/exports"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

var wishLink = regexp.MustCompile(`(?m)^http://[^/]+(/owner/(?:export|erase|keep)/[0-9a-f-]{36}/([A-Za-z0-9_-]{43}))\r?$`)

// wish requests a link on a page and returns its path.
func (w *world) wish(page, handle string) string {
	w.t.Helper()
	w.AskedJobs()
	w.get(page).status(http.StatusOK)
	w.post(page, url.Values{"handle": {handle}, "email": {ada}}).status(http.StatusAccepted)
	w.examine()
	return w.wished()
}

// examine runs the jobs of requests.
func (w *world) examine() {
	w.t.Helper()
	for _, job := range w.AskedJobs() {
		if asked, ok := job.(owners.RequestJob); ok {
			require.NoError(w.t, w.Owners.ExamineRequest(w.t.Context(), asked.RequestID))
		}
	}
}

// wished returns the path of the link in the newest mail.
func (w *world) wished() string {
	w.t.Helper()
	mails := w.Mails(ada)
	link := wishLink.FindStringSubmatch(mails[len(mails)-1].Text)
	require.NotNil(w.t, link, mails[len(mails)-1].Text)
	w.secrets = append(w.secrets, link[2])
	return link[1]
}

// An owner downloads the owner's version of an archive: with owner.json, without messages.
func TestAnOwnerGetsAnArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.InspectWith(nil)
	w.register("echo")
	path := w.wish("/owner/export", "echo")
	require.Contains(t, string(w.get(path).status(http.StatusOK).raw), "Make the archive")
	require.Zero(t, w.Count("SELECT count(*) FROM exports"), "looking changes nothing")
	w.AskedJobs()
	require.Contains(t, string(w.submit(path).status(http.StatusOK).raw), "being made")
	for _, job := range w.AskedJobs() {
		if asked, ok := job.(exports.Job); ok {
			require.NoError(t, w.Exports.Make(t.Context(), asked.ExportID))
		}
	}
	w.post(path, url.Values{"confirm": {"yes"}}).status(http.StatusOK)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM exports"), "a repeat makes no other")
	w.Shift(6 * 24 * time.Hour)
	require.Contains(t, string(w.get(path).status(http.StatusOK).raw), path+"/parts/1")
	answer, err := http.Get(w.url + path + "/parts/1")
	require.NoError(t, err)
	raw, err := io.ReadAll(answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))
	require.Equal(t, "application/zip", answer.Header.Get("Content-Type"))
	archive := graphtest.Got(zip.NewReader(bytes.NewReader(raw), int64(len(raw))))(t)
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	require.Contains(t, names, "owner.json")
	require.Contains(t, names, "manifest.jws")
	require.NotContains(t, names, "messages.jsonl")
	request := graphtest.Got(http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path+"/parts/1", nil))(t)
	request.Header.Set("Range", "bytes=100-")
	request.Header.Set("If-Range", answer.Header.Get("ETag"))
	resumed, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	rest, err := io.ReadAll(resumed.Body)
	require.NoError(t, errors.Join(err, resumed.Body.Close()))
	require.Equal(t, http.StatusPartialContent, resumed.StatusCode)
	require.Equal(t, raw, append(bytes.Clone(raw[:100]), rest...))
	other := w.send(http.MethodGet, path+"/parts/1", "", "If-Match", `"another"`).status(http.StatusPreconditionFailed)
	require.Equal(t, "The file is another one", other.title())
	beyond := w.send(http.MethodGet, path+"/parts/1", "", "Range", "bytes=99999999-").status(http.StatusRequestedRangeNotSatisfiable)
	require.Equal(t, "The file is not that long", beyond.title())
	require.Contains(t, beyond.header.Get("Content-Security-Policy"), "style-src 'self'")
	w.get(path + "/parts/2").status(http.StatusNotFound)
	w.get(path[:len(path)-1] + "_/parts/1").status(http.StatusNotFound)
	w.Shift(25 * time.Hour)
	w.get(path + "/parts/1").status(http.StatusNotFound)
}

// An owner can have an agent erased, and the owner's link cancels an erasure that a stolen token requested.
func TestAnOwnerErasesAndKeeps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.register("echo")
	path := w.wish("/owner/erase", "echo")
	require.Equal(t, "Erase echo", w.get(path).status(http.StatusOK).title())
	require.Zero(t, w.Count("SELECT count(*) FROM erasures"), "looking changes nothing")
	require.Equal(t, "echo is to be erased", w.submit(path).status(http.StatusOK).title())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM erasures WHERE requested_by = 'owner' AND cancelled_at IS NULL"))
	v := graphtest.Got(w.Auth.Authenticate(t.Context(), made.Token, false))(t)
	ctx := viewer.With(t.Context(), v)
	require.Error(t, graphtest.Err(w.Lifecycle.CancelErasure(ctx)), "only the owner cancels what the owner asked for")

	keep := w.wished()
	require.Equal(t, "Keep echo", w.get(keep).status(http.StatusOK).title())
	require.Equal(t, "echo stays", w.submit(keep).status(http.StatusOK).title())
	require.Equal(t, "echo stays", w.post(keep, url.Values{"confirm": {"yes"}}).status(http.StatusOK).title())

	used := w.get(path).status(http.StatusOK)
	require.Equal(t, "You have asked to erase echo", used.title())
	require.NotContains(t, string(used.raw), "out of view", "it was cancelled")

	// A stolen token requests an erasure.
	id := "0d3f6a9e-51a7-4b9c-8a13-6a1c5a0f2c01"
	graphtest.OK(t)(w.Lifecycle.RequestErasure(ctx, lifecycle.ErasureInput{OperationID: &id, ConfirmHandle: graphtest.Ptr("echo")}))
	keep = w.wished()
	w.submit(keep).status(http.StatusOK)
	w.Shift(8 * 24 * time.Hour)
	require.Zero(t, graphtest.Got(w.Lifecycle.Erase(t.Context()))(t))
	require.Equal(t, "echo stays", w.get(keep).status(http.StatusOK).title())
	w.get(path).status(http.StatusOK)

	// The owner confirms an erasure that a stolen token has requested: then the token cannot cancel it.
	id = "0d3f6a9e-51a7-4b9c-8a13-6a1c5a0f2c02"
	v = graphtest.Got(w.Auth.Authenticate(t.Context(), made.Token, false))(t)
	ctx = viewer.With(t.Context(), v)
	graphtest.OK(t)(w.Lifecycle.RequestErasure(ctx, lifecycle.ErasureInput{OperationID: &id, ConfirmHandle: graphtest.Ptr("echo")}))
	keep = w.wished()
	w.submit(w.wish("/owner/erase", "echo")).status(http.StatusOK)
	graphtest.Refused(t, fault.Forbidden)(w.Lifecycle.CancelErasure(ctx))
	w.submit(keep).status(http.StatusOK)

	// The link is too late.
	id = "0d3f6a9e-51a7-4b9c-8a13-6a1c5a0f2c03"
	v = graphtest.Got(w.Auth.Authenticate(t.Context(), made.Token, false))(t)
	graphtest.OK(t)(w.Lifecycle.RequestErasure(viewer.With(t.Context(), v), lifecycle.ErasureInput{OperationID: &id, ConfirmHandle: graphtest.Ptr("echo")}))
	keep = w.wished()
	w.Shift(8 * 24 * time.Hour)
	w.post(keep, url.Values{"confirm": {"yes"}}).status(http.StatusGone)
}

// The answer is the same whether or not agent and address belong together.
func TestRequestsForLinksAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("echo")
	for _, page := range []string{"/owner/export", "/owner/erase"} {
		w.examine()
		sent := len(w.Mails(ada))
		var answers []string
		for _, form := range []url.Values{
			{"handle": {"echo"}, "email": {"bea@example.org"}}, {"handle": {"nobody_here"}, "email": {ada}},
		} {
			answers = append(answers, string(w.post(page, form).status(http.StatusAccepted).raw))
		}
		w.examine()
		require.Len(t, w.Mails(ada), sent)
		answers = append(answers, string(w.post(page, url.Values{"handle": {"echo"}, "email": {ada}}).status(http.StatusAccepted).raw))
		require.Equal(t, answers[0], answers[1])
		require.Equal(t, answers[0], answers[2])
		w.post(page, url.Values{"handle": {"-"}, "email": {"x"}}).status(http.StatusBadRequest)
	}
}
