package owner_test

import (
	"archive/zip"
	"bytes"
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// An owner downloads the owner's version of an archive: with owner.json, without messages.
func TestAnOwnerGetsAnArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.InspectWith(nil)
	w.register("echo")
	path := w.wish("/owner/export")
	require.Contains(t, string(w.get(path).status(http.StatusOK).raw), "Make the archive")
	require.Zero(t, w.Count("SELECT count(*) FROM exports"), "looking changes nothing")
	require.Contains(t, string(w.submit(path).status(http.StatusOK).raw), "being made")
	w.work()
	w.post(path, url.Values{"confirm": {"yes"}}).status(http.StatusOK)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM exports"), "a repeat makes no other")
	w.Shift(6 * 24 * time.Hour)
	require.Contains(t, string(w.get(path).status(http.StatusOK).raw), path+"/parts/1")
	whole := w.get(path + "/parts/1").status(http.StatusOK)
	raw := whole.raw
	require.Equal(t, "application/zip", whole.header.Get("Content-Type"))
	archive := graphtest.Got(zip.NewReader(bytes.NewReader(raw), int64(len(raw))))(t)
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	require.Contains(t, names, "owner.json")
	require.Contains(t, names, "manifest.jws")
	require.NotContains(t, names, "messages.jsonl")
	rest := w.send(http.MethodGet, path+"/parts/1", "", "Range", "bytes=100-", "If-Range", whole.header.Get("ETag"))
	require.Equal(t, raw, append(bytes.Clone(raw[:100]), rest.status(http.StatusPartialContent).raw...))
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
	path := w.wish("/owner/erase")
	require.Equal(t, "Erase echo", w.get(path).status(http.StatusOK).title())
	require.Zero(t, w.Count("SELECT count(*) FROM erasures"), "looking changes nothing")
	require.Equal(t, "echo is to be erased", w.submit(path).status(http.StatusOK).title())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM erasures WHERE requested_by = 'owner' AND cancelled_at IS NULL"))
	authenticated := func() context.Context {
		return viewer.With(t.Context(), graphtest.Got(w.Auth.Authenticate(t.Context(), made.Token, false))(t))
	}
	// stolen requests an erasure with a stolen token, and returns the link that cancels it.
	stolen := func() (keep string) {
		graphtest.OK(t)(w.Lifecycle.RequestErasure(authenticated(), lifecycle.ErasureInput{
			OperationID: graphtest.Ptr(uuid.NewString()), ConfirmHandle: graphtest.Ptr("echo"),
		}))
		return w.lastMail().path
	}
	require.Error(t, graphtest.Err(w.Lifecycle.CancelErasure(authenticated())), "only the owner cancels what the owner asked for")

	keep := w.lastMail().path
	require.Equal(t, "Keep echo", w.get(keep).status(http.StatusOK).title())
	require.Equal(t, "echo stays", w.submit(keep).status(http.StatusOK).title())
	require.Equal(t, "echo stays", w.post(keep, url.Values{"confirm": {"yes"}}).status(http.StatusOK).title())

	used := w.get(path).status(http.StatusOK)
	require.Equal(t, "You have asked to erase echo", used.title())
	require.NotContains(t, string(used.raw), "out of view", "it was cancelled")

	keep = stolen()
	w.submit(keep).status(http.StatusOK)
	w.Shift(8 * 24 * time.Hour)
	require.Zero(t, graphtest.Got(w.Lifecycle.Erase(t.Context()))(t))
	require.Equal(t, "echo stays", w.get(keep).status(http.StatusOK).title())
	w.get(path).status(http.StatusOK)

	// The owner confirms an erasure that a stolen token has requested: then the token cannot cancel it.
	keep = stolen()
	w.submit(w.wish("/owner/erase")).status(http.StatusOK)
	graphtest.Refused(t, fault.Forbidden)(w.Lifecycle.CancelErasure(authenticated()))
	w.submit(keep).status(http.StatusOK)

	// The link is too late.
	keep = stolen()
	w.Shift(8 * 24 * time.Hour)
	w.post(keep, url.Values{"confirm": {"yes"}}).status(http.StatusGone)
}

// The answer is the same whether or not agent and address belong together.
func TestRequestsForLinksAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("echo")
	for _, page := range []string{"/owner/export", "/owner/erase"} {
		w.work()
		sent := len(w.Mails(ada))
		var answers []string
		for _, form := range []url.Values{
			{"handle": {"echo"}, "email": {"bea@example.org"}}, {"handle": {"nobody_here"}, "email": {ada}},
		} {
			answers = append(answers, string(w.post(page, form).status(http.StatusAccepted).raw))
		}
		w.work()
		require.Len(t, w.Mails(ada), sent)
		answers = append(answers, string(w.post(page, url.Values{"handle": {"echo"}, "email": {ada}}).status(http.StatusAccepted).raw))
		require.Equal(t, answers[0], answers[1])
		require.Equal(t, answers[0], answers[2])
		w.post(page, url.Values{"handle": {"-"}, "email": {"x"}}).status(http.StatusBadRequest)
	}
}
