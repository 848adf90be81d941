package profiles_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/profiles"
)

func TestOwnCardOffersNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.named("Ada")
	card := w.card(ada, ada)
	require.Equal(t, profiles.Friendship{Friendship: contacts.Friendship{Status: "none"}}, card.Friendship)
	require.Equal(t, []wire.Action{}, card.Actions)
	require.Equal(t, "Ada", card.DisplayName)
}

func TestCardIsHiddenWithItsProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, reader := w.named("Ada"), w.named("Reader")
	w.Befriend(ada, reader)
	for _, change := range []string{"profile_public = false", "state = 'trash'", "state = 'deleted'", "suspended_at = stoa_now()"} {
		w.Exec("UPDATE bots SET profile_public = true, state = 'active', suspended_at = NULL")
		w.card(reader, ada)
		w.Exec("UPDATE bots SET "+change+" WHERE id = $1", ada.ID)
		for _, by := range []*graphtest.Agent{reader, ada} {
			graphtest.Refused(t, fault.NotFound)(w.Profiles.BotCard(by.Ctx, profiles.BotInput{BotID: ada.ID.String()}))
		}
	}
	graphtest.Refused(t, fault.NotFound)(w.Profiles.BotCard(reader.Ctx, profiles.BotInput{BotID: uuid.NewString()}))
}

func TestBotInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader := w.Agent()
	id := reader.ID.String()
	for name, c := range map[string]struct {
		in   profiles.BotInput
		code fault.Code
	}{
		"id":    {profiles.BotInput{BotID: "me", Page: page.Param{"0"}}, fault.InvalidID},
		"urn":   {profiles.BotInput{BotID: "urn:uuid:" + id}, fault.InvalidID},
		"page":  {profiles.BotInput{BotID: uuid.NewString(), Page: page.Param{"1001"}}, fault.InvalidPagination},
		"kind":  {profiles.BotInput{BotID: uuid.NewString(), Kind: page.Param{"x"}}, fault.InvalidKind},
		"kinds": {profiles.BotInput{BotID: id, Kind: page.Param{"update", "portfolio"}}, fault.InvalidKind},
	} {
		graphtest.Refused(t, c.code, name)(w.Profiles.BotCard(reader.Ctx, c.in))
	}
}

func TestCardHasPublicPostsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, reader := w.named("Ada"), w.named("Reader")
	var public, works []uuid.UUID
	for i := range 9 {
		kind, visibility := "update", "public"
		if i%3 == 0 {
			kind = "portfolio"
		}
		if i%4 == 3 {
			visibility = "private"
		}
		made, err := w.Posts.CreatePost(ada.Ctx, posts.CreatePostInput{Fields: posts.Fields{Text: ptr("x"), Kind: &kind, Visibility: &visibility}})
		require.NoError(t, err)
		if visibility == "public" {
			public = append([]uuid.UUID{made.Post.ID}, public...)
			if kind == "portfolio" {
				works = append([]uuid.UUID{made.Post.ID}, works...)
			}
		}
	}
	w.Posted(reader, "another's", "public")
	for _, by := range []*graphtest.Agent{reader, ada} {
		for kind, want := range map[string][]uuid.UUID{"": public, "portfolio": works} {
			in := profiles.BotInput{BotID: ada.ID.String(), PageSize: page.Param{"2"}, Page: page.Param{"1"}}
			if kind != "" {
				in.Kind = page.Param{kind}
			}
			var got []uuid.UUID
			for next := 1; ; {
				in.Page = page.Param{string(rune('0' + next))}
				found := graphtest.Got(w.Profiles.BotCard(by.Ctx, in))(t)
				for _, p := range found.Posts {
					got = append(got, p.ID)
				}
				if found.NextPage == nil {
					break
				}
				next = *found.NextPage
			}
			require.Equal(t, want, got, kind)
		}
	}
}

func TestCardShowsImages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, reader := w.named("Ada"), w.named("Reader")
	avatar := w.File(ada, attachments.Avatar)
	graphtest.OK(t)(w.Bots.UpdateMe(ada.Ctx, bots.UpdateMeInput{
		AvatarAttachmentID: wire.Nullable[string]{Set: true, Value: avatar.String()}, RightsConfirmed: graphtest.Ptr(true),
		CharacterDescription: ptr("tall"),
	}))
	made := w.Posted(ada, "x", "public")
	require.Equal(t, attachments.PreviewURL(avatar), *made.Author.AvatarURL)
	seen := w.card(reader, ada).Visuals
	require.Equal(t, avatar, seen.Avatar.ID)
	require.Nil(t, seen.Avatar.FileName)
	require.Nil(t, seen.Character)
	require.Equal(t, "tall", seen.CharacterDescription)
	require.NotNil(t, w.card(ada, ada).Visuals.Avatar.FileName)
}

func TestCardSaysWhenTheAgentWasLastSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, reader := w.named("Ada"), w.named("Reader")
	for ago, want := range map[string]string{
		"0 hours": "hour", "59 minutes": "hour", "60 minutes": "day", "23 hours": "day", "24 hours": "week", "167 hours": "week",
		"168 hours": "month", "719 hours": "month", "720 hours": "earlier", "9000 hours": "earlier",
	} {
		w.Exec("UPDATE bots SET last_active_at = stoa_now() - $2::interval WHERE id = $1", ada.ID, ago)
		require.Equal(t, want, w.card(reader, ada).LastSeen, ago)
	}
}
