package posts_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
)

var (
	yes = graphtest.Ptr(true)
	no  = graphtest.Ptr(false)
)

// readable reports whether someone without an account may read a file.
func (w *world) readable(id uuid.UUID) bool {
	_, err := w.Attachments.Attachment(context.Background(), attachments.AttachmentInput{AttachmentID: id.String()})
	if err == nil {
		return true
	}
	graphtest.RequireFault(w.t, err, fault.NotFound)
	return false
}

func TestFilesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	a, b, c := w.File(author, attachments.Portfolio), w.File(author, attachments.Portfolio), w.File(author, attachments.Portfolio)
	made := graphtest.Got(w.create(author, posts.Fields{AttachmentIDs: texts(c, a)}))(t).Post
	require.Equal(t, []uuid.UUID{c, a}, files(made))

	changed := graphtest.Got(w.update(author, made.ID, posts.Fields{AttachmentIDs: texts(b, a, c)}))(t).Post
	require.Equal(t, []uuid.UUID{b, a, c}, files(changed))
	changed = graphtest.Got(w.update(author, made.ID, posts.Fields{Text: ptr("other")}))(t).Post
	require.Equal(t, []uuid.UUID{b, a, c}, files(changed))
	changed = graphtest.Got(w.update(author, made.ID, posts.Fields{AttachmentIDs: texts(c)}))(t).Post
	require.Equal(t, []uuid.UUID{c}, files(changed))

	graphtest.OK(t, "files that a post dropped are free")(w.create(author, posts.Fields{AttachmentIDs: texts(a, b)}))
	changed = graphtest.Got(w.update(author, made.ID, posts.Fields{AttachmentIDs: []string{}}))(t).Post
	require.Empty(t, changed.Attachments)
}

func TestFilesThatCannotBeAttached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, other := w.Agent(), w.Agent()
	bound := w.File(author, attachments.Portfolio)
	graphtest.OK(t)(w.create(author, posts.Fields{AttachmentIDs: texts(bound)}))
	rejected, pending, gone := w.File(author, attachments.Portfolio), w.File(author, attachments.Portfolio), w.File(author, attachments.Portfolio)
	w.Exec("UPDATE attachments SET status = 'rejected' WHERE id = $1", rejected)
	w.Exec("UPDATE attachments SET status = 'pending' WHERE id = $1", pending)
	w.Exec("UPDATE attachments SET deleted_at = stoa_now(), reserved_bytes = 0 WHERE id = $1", gone)
	for name, c := range map[string]struct {
		file uuid.UUID
		code fault.Code
	}{
		"unknown":         {uuid.New(), fault.InvalidAttachment},
		"another agent's": {w.File(other, attachments.Portfolio), fault.InvalidAttachment},
		"avatar":          {w.File(author, attachments.Avatar), fault.InvalidAttachment},
		"order file":      {w.File(author, attachments.Order), fault.InvalidAttachment},
		"rejected":        {rejected, fault.InvalidAttachment},
		"pending":         {pending, fault.InvalidAttachment},
		"without bytes":   {gone, fault.InvalidAttachment},
		"bound":           {bound, fault.AttachmentAlreadyBound},
	} {
		free := w.File(author, attachments.Portfolio)
		_, err := w.create(author, posts.Fields{AttachmentIDs: texts(free, c.file)})
		graphtest.RefusedField(t, c.code, "attachment_ids[1]", name)(nil, err)
		require.EqualValues(t, 0, w.Count("SELECT count(*) FROM attachments WHERE id = $1 AND bound_id IS NOT NULL", free), name)
	}
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", author.ID)
	for file, code := range map[uuid.UUID]fault.Code{uuid.New(): fault.InvalidAttachment, w.File(author, attachments.Portfolio): fault.InactiveBot} {
		graphtest.Refused(t, code)(w.create(author, posts.Fields{Visibility: ptr("public"), AttachmentIDs: texts(file), RightsConfirmed: yes}))
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM posts"))
}

// Each step is one request about a post and two files; code is empty if it succeeds.
func TestRights(t *testing.T) {
	t.Parallel()
	type step struct {
		visibility string
		// files by their letters, "-" for an empty list, "" for none sent.
		files  string
		rights *bool
		code   fault.Code
	}
	w := newWorld(t)
	for name, steps := range map[string][]step{
		"private needs no claim":              {{"private", "a", nil, ""}},
		"private with a claim":                {{"private", "a", yes, ""}},
		"private with a claim denied":         {{"private", "a", no, fault.RightsRequired}},
		"private without files, denied":       {{"private", "", no, ""}},
		"private with an empty list, denied":  {{"private", "-", no, ""}},
		"public without files, denied":        {{"public", "-", no, ""}},
		"public without a claim":              {{"public", "a", nil, fault.PublicationRightsRequired}},
		"public with a claim denied":          {{"public", "a", no, fault.PublicationRightsRequired}},
		"public with a claim":                 {{"public", "a", yes, ""}},
		"published later without a claim":     {{"private", "a", nil, ""}, {"public", "", nil, fault.PublicationRightsRequired}},
		"published later with a claim":        {{"private", "a", nil, ""}, {"public", "", yes, ""}},
		"published later, claimed before":     {{"private", "a", yes, ""}, {"public", "", nil, ""}},
		"claimed alone":                       {{"private", "a", nil, ""}, {"", "", yes, ""}, {"public", "", nil, ""}},
		"published later, denied":             {{"private", "a", yes, ""}, {"public", "", no, fault.PublicationRightsRequired}},
		"added to a public post":              {{"public", "a", yes, ""}, {"", "ab", nil, fault.PublicationRightsRequired}, {"", "ab", yes, ""}},
		"denied of a public post":             {{"public", "a", yes, ""}, {"", "", no, fault.PublicationRightsRequired}},
		"kept by a public post":               {{"public", "ab", yes, ""}, {"", "ba", nil, ""}, {"", "b", nil, ""}, {"", "ba", nil, ""}},
		"dropped by a public post, denied":    {{"public", "a", yes, ""}, {"", "-", no, ""}},
		"kept by a private post, denied":      {{"private", "ab", nil, ""}, {"", "b", no, ""}, {"", "ba", no, fault.RightsRequired}},
		"hidden and denied":                   {{"public", "a", yes, ""}, {"private", "", no, ""}, {"private", "ab", no, fault.RightsRequired}},
		"published without the unclaimed one": {{"private", "ab", nil, ""}, {"", "a", yes, ""}, {"public", "a", nil, ""}, {"", "ab", nil, fault.PublicationRightsRequired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			author := w.Agent()
			letters := map[rune]uuid.UUID{'a': w.File(author, attachments.Portfolio), 'b': w.File(author, attachments.Portfolio)}
			var post *posts.Card
			for i, s := range steps {
				f := posts.Fields{RightsConfirmed: s.rights}
				if s.visibility != "" {
					f.Visibility = &s.visibility
				}
				if s.files != "" {
					f.AttachmentIDs = []string{}
				}
				for _, letter := range s.files {
					if id, ok := letters[letter]; ok {
						f.AttachmentIDs = append(f.AttachmentIDs, id.String())
					}
				}
				var (
					after *posts.PostResult
					err   error
				)
				if post == nil {
					after, err = w.create(author, f)
				} else {
					after, err = w.update(author, post.ID, f)
				}
				if s.code != "" {
					require.Equal(t, s.code, fault.From(err).Code, "step %d", i)
					continue
				}
				require.NoError(t, err, "step %d", i)
				post = after.Post
			}
		})
	}
}

// Everyone can read a file exactly while it belongs to a public post that is not deleted, of an active open profile.
func TestFilesArePublicWithTheirPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, other := w.Agent(), w.Agent()
	file, spare := w.File(author, attachments.Portfolio), w.File(author, attachments.Portfolio)
	made := graphtest.Got(w.create(author, posts.Fields{AttachmentIDs: texts(file), RightsConfirmed: yes}))(t).Post
	require.False(t, w.readable(file), "of a private post")

	set := func(f posts.Fields) {
		t.Helper()
		graphtest.OK(t)(w.update(author, made.ID, f))
	}
	set(posts.Fields{Visibility: ptr("public")})
	require.True(t, w.readable(file))
	require.False(t, w.readable(spare), "bound to nothing")
	seen := graphtest.Got(w.read(other, made.ID))(t).Post
	require.Nil(t, seen.Attachments[0].FileName)
	require.Nil(t, seen.Attachments[0].SHA256)
	require.NotNil(t, seen.Attachments[0].PreviewURL)
	own := graphtest.Got(w.read(author, made.ID))(t).Post
	require.Equal(t, "secret name.png", *own.Attachments[0].FileName)
	require.NotNil(t, own.Attachments[0].SHA256)

	for _, change := range []struct{ hide, show string }{
		{"profile_public = false", "profile_public = true"},
		{"state = 'trash'", "state = 'active'"},
		{"suspended_at = stoa_now()", "suspended_at = NULL"},
	} {
		w.Exec("UPDATE bots SET "+change.hide+" WHERE id = $1", author.ID)
		require.False(t, w.readable(file), change.hide)
		w.Exec("UPDATE bots SET "+change.show+" WHERE id = $1", author.ID)
		require.True(t, w.readable(file), change.show)
	}
	set(posts.Fields{Visibility: ptr("private")})
	require.False(t, w.readable(file), "of a post that was hidden")
	set(posts.Fields{Visibility: ptr("public"), AttachmentIDs: texts(spare), RightsConfirmed: yes})
	require.False(t, w.readable(file), "dropped from its post")
	require.True(t, w.readable(spare))
	w.remove(author, made.ID)
	require.False(t, w.readable(spare), "of a deleted post")
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM attachments WHERE bound_id IS NULL AND unbound_at IS NOT NULL"))
}

// If two posts request the same file concurrently, one gets it.
func TestOneFileGoesToOnePost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author := w.Agent()
	file := w.File(author, attachments.Portfolio)
	codes := graphtest.AtOnce(4, func(int) error {
		return graphtest.Err(w.create(author, posts.Fields{AttachmentIDs: texts(file)}))
	})
	require.Equal(t, map[fault.Code]int{"": 1, fault.AttachmentAlreadyBound: 3}, codes.Count())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM posts"))
}
