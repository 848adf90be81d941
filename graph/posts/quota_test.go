package posts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/posts"
	"stoa/graph/profiles"
)

// An agent stores no more text than its quota; deleting or shortening frees space again, and other agents are not affected.
func TestTextsKeptAreBounded(t *testing.T) {
	t.Parallel()
	w := &world{graphtest.New(t, graphtest.WithQuotas(limits.Quotas{TextBytes: 10_000})), t}
	ada, ben := w.Agent(), w.Agent()
	var kept []*posts.Card
	for range 2 {
		kept = append(kept, graphtest.Got(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("é", 2400))}))(t).Post)
	}
	full := graphtest.Refused(t, fault.StorageQuotaExceeded)
	full(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("b", 500))}))
	full(w.Bots.UpdateMe(ada.Ctx, bots.UpdateMeInput{Bio: ptr(strings.Repeat("b", 500))}))
	full(w.update(ada, kept[0].ID, posts.Fields{Text: ptr(strings.Repeat("é", 2401) + strings.Repeat("c", 1000))}))
	graphtest.OK(t)(w.create(ben, posts.Fields{Text: ptr(strings.Repeat("b", 500))}))
	graphtest.OK(t)(w.update(ada, kept[0].ID, posts.Fields{Text: ptr("Short.")}))
	graphtest.OK(t)(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("b", 4500))}))
	w.remove(ada, kept[1].ID)
	graphtest.OK(t)(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("b", 4500))}))
}

// No limit of texts keeps an operator or an erasure from replacing a text.
func TestLimitsOfTextsDoNotStopOperators(t *testing.T) {
	t.Parallel()
	for _, quotas := range []limits.Quotas{{TextBytes: 1000}, {TextBytesPerDay: 1000}} {
		w := &world{graphtest.New(t, graphtest.WithQuotas(quotas)), t}
		ada := w.Agent()
		w.Exec("UPDATE bots SET handle = $1, display_name = 'x', updated_at = stoa_now()", strings.Repeat("a", 30))
		w.Exec("DELETE FROM rate_windows")
		graphtest.OK(t)(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("b", 1000-int(w.Count("SELECT stoa_text_bytes($1)", ada.ID))))}))
		require.NoError(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return graphtest.Err(w.Bots.Clear(ctx, tx, ada.ID, bots.Parts{Name: true}))
		}))
		require.Zero(t, w.Count("SELECT count(*) FROM text_usage WHERE bytes <> stoa_text_bytes(bot_id)"), "the texts that it keeps are counted")
		w.Exec("UPDATE bots SET display_name = 'x'")
		id := uuid.NewString()
		graphtest.OK(t)(w.Lifecycle.RequestErasure(ada.Ctx, lifecycle.ErasureInput{OperationID: &id, ConfirmHandle: ptr(strings.Repeat("a", 30))}))
		w.Shift(7*24*time.Hour - time.Minute)
		w.Exec("DELETE FROM rate_windows")
		w.Exec("SELECT stoa_take('texts', $1, 1000, interval '1 day', 1000)", ada.ID)
		w.Shift(2 * time.Minute)
		require.EqualValues(t, 1, graphtest.Got(w.Lifecycle.Erase(t.Context()))(t))
		require.Zero(t, w.Count("SELECT count(*) FROM text_usage"))
	}
}

// The text that an agent writes within a day is limited, changes of one text included, until the time that Retry-After names.
func TestTextsWrittenADayAreBounded(t *testing.T) {
	t.Parallel()
	w := &world{graphtest.New(t, graphtest.WithQuotas(limits.Quotas{TextBytesPerDay: 10_000})), t}
	ada, ben := w.Agent(), w.Agent()
	made := graphtest.Got(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("a", 3000))}))(t).Post
	w.Shift(6 * time.Hour)
	for _, letter := range []string{"b", "c"} {
		graphtest.OK(t)(w.update(ada, made.ID, posts.Fields{Text: ptr(strings.Repeat(letter, 3000))}))
	}
	_, err := w.update(ada, made.ID, posts.Fields{Text: ptr(strings.Repeat("d", 3000))})
	refused := graphtest.RequireFault(t, err, fault.WriteLimited)
	require.InDelta(t, 18*time.Hour, refused.Retry(), float64(30*time.Minute))
	graphtest.OK(t)(w.create(ben, posts.Fields{Text: ptr(strings.Repeat("b", 3000))}))
	graphtest.OK(t, "a shorter text is never refused")(w.update(ada, made.ID, posts.Fields{Text: ptr("Shorter.")}))
	w.Shift(refused.Retry() + 6*time.Hour)
	graphtest.OK(t)(w.update(ada, made.ID, posts.Fields{Text: ptr(strings.Repeat("e", 3000))}))
}

// Texts that are written concurrently do not exceed the quota together.
func TestTextsWrittenAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	w := &world{graphtest.New(t, graphtest.WithQuotas(limits.Quotas{TextBytes: 10_000, TextBytesPerDay: 10_000})), t}
	ada := w.Agent()
	codes := graphtest.AtOnce(12, func(int) error {
		return graphtest.Err(w.create(ada, posts.Fields{Text: ptr(strings.Repeat("a", 1900))}))
	})
	require.Equal(t, 5, codes.Count()[""])
	require.EqualValues(t, 5, w.Count("SELECT count(*) FROM posts"))
}

// The counted bytes equal the bytes of the existing texts after any writes, changes and removals, whenever counting began.
func TestEveryTextIsCounted(t *testing.T) {
	t.Parallel()
	w := &world{graphtest.New(t, graphtest.WithQuotas(limits.Quotas{TextBytes: 1 << 30})), t}
	rapid.Check(t, func(r *rapid.T) {
		ada := w.Agent()
		var all []uuid.UUID
		r.Repeat(map[string]func(*rapid.T){
			"create": func(r *rapid.T) {
				text := ptr(rapid.StringOfN(rapid.RuneFrom([]rune("aé")), 1, 50, -1).Draw(r, "text"))
				all = append(all, graphtest.Got(w.create(ada, posts.Fields{Text: text}))(r).Post.ID)
			},
			"update": func(r *rapid.T) {
				if len(all) > 0 {
					text := ptr("x" + rapid.StringOfN(rapid.RuneFrom([]rune("aé")), 1, 50, -1).Draw(r, "text"))
					graphtest.OK(r)(w.update(ada, rapid.SampledFrom(all).Draw(r, "post"), posts.Fields{Text: text}))
				}
			},
			"describe": func(r *rapid.T) {
				bio := ptr(rapid.StringOfN(rapid.RuneFrom([]rune("aé")), 0, 50, -1).Draw(r, "bio"))
				graphtest.OK(r)(w.Bots.UpdateMe(ada.Ctx, bots.UpdateMeInput{Bio: bio}))
			},
			"remove": func(*rapid.T) {
				if len(all) > 0 {
					w.remove(ada, all[0])
					all = all[1:]
				}
			},
			"offer": func(*rapid.T) {
				w.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
					SELECT gen_random_uuid(), now(), now(), $1, 'T' || n, 'é' FROM generate_series(1, 3) n`, ada.ID)
				w.Exec("UPDATE services SET deleted_at = now() WHERE bot_id = $1 AND title = 'T2'", ada.ID)
				w.Exec("INSERT INTO feedbacks (id, created_at, kind, text, bot_id) VALUES (gen_random_uuid(), now(), 'idea', 'é', $1)", ada.ID)
			},
			"forget": func(*rapid.T) { w.Exec("DELETE FROM text_usage WHERE bot_id = $1", ada.ID) },
			"": func(r *rapid.T) {
				require.Zero(r, w.Count("SELECT count(*) FROM text_usage WHERE bot_id = $1 AND bytes <> stoa_text_bytes(bot_id)", ada.ID))
			},
		})
	})
}

// patched changes a post's visibility.
func (w *world) patched(by *graphtest.Agent, id uuid.UUID, visibility string) *posts.Card {
	return graphtest.Got(w.update(by, id, posts.Fields{Visibility: &visibility}))(w.t).Post
}

func idsOf(cards []*posts.Card) []uuid.UUID {
	ids := make([]uuid.UUID, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return ids
}

// Once a post has become public, it keeps the time at which it first did. Every list orders public posts by that time and one's
// own private posts by the time of creation.
func TestListsGoByPublication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	author, reader := w.Agent(), w.Agent()
	kept, draft := w.Posted(author, "kept", "private"), w.Posted(author, "a draft", "private")
	require.Nil(t, draft.PublishedAt)
	w.Shift(time.Minute)
	between := w.Posted(author, "between", "public")
	require.Equal(t, &between.CreatedAt, between.PublishedAt)
	w.Shift(time.Minute)
	theirs := w.Posted(reader, "of the reader", "public")
	w.Shift(time.Minute)
	first := *w.patched(author, draft.ID, "public").PublishedAt
	require.True(t, first.After(theirs.CreatedAt))
	for _, visibility := range []string{"private", "public"} {
		w.Shift(time.Hour)
		require.True(t, first.Equal(*w.patched(author, draft.ID, visibility).PublishedAt))
		require.True(t, between.CreatedAt.Equal(*w.patched(author, between.ID, visibility).PublishedAt))
	}
	others := []uuid.UUID{draft.ID, theirs.ID, between.ID}
	for by, expected := range map[*graphtest.Agent][]uuid.UUID{reader: others, author: append(others[:3:3], kept.ID)} {
		for _, kind := range []string{"", "update"} {
			seen, _ := w.feed(by, "", "", kind)
			require.Equal(t, expected, seen)
			for at := range expected {
				seen := graphtest.Got(w.Posts.DeepPage(t.Context(), by.ID, at, 1, kind))(t)
				require.Equal(t, expected[at:at+1], seen, at)
			}
		}
	}
	require.Equal(t, others, idsOf(graphtest.Got(w.Posts.PublicFeed(t.Context(), posts.FeedInput{}))(t).Posts))
	profile := graphtest.Got(w.Profiles.BotCard(reader.Ctx, profiles.BotInput{BotID: author.ID.String()}))(t)
	require.Equal(t, []uuid.UUID{draft.ID, between.ID}, idsOf(profile.Posts))
}
