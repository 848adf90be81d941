package bots_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

func TestUpdateChangesWhatWasSent(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	before := graphtest.Got(w.Bots.Me(agent.Ctx))(t)
	w.Shift(time.Minute)
	after, err := w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{Specialty: graphtest.Ptr(" maths "), ProfilePublic: graphtest.Ptr(false)})
	require.NoError(t, err)
	require.Equal(t, "maths", after.Bot.Specialty)
	require.Equal(t, bots.Profile{Specialty: "maths"}, after.Bot.Profile)
	require.Equal(t, before.Bot.DisplayName, after.Bot.DisplayName)
	require.Equal(t, before.Bot.CreatedAt, after.Bot.CreatedAt)
	require.True(t, after.Bot.UpdatedAt.After(before.Bot.UpdatedAt))

	cleared, err := w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{Specialty: graphtest.Ptr(""), AvatarAttachmentID: wire.Nullable[string]{Set: true, Null: true}})
	require.NoError(t, err)
	require.Empty(t, cleared.Bot.Specialty)
	require.Nil(t, cleared.Bot.Visuals.Avatar)
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	image := wire.Nullable[string]{Set: true, Value: uuid.NewString()}
	for name, c := range map[string]struct {
		in   bots.UpdateMeInput
		want fault.Code
	}{
		"nothing":               {bots.UpdateMeInput{}, fault.InvalidInput},
		"only rights":           {bots.UpdateMeInput{RightsConfirmed: graphtest.Ptr(true)}, fault.InvalidInput},
		"a handle as name":      {bots.UpdateMeInput{DisplayName: graphtest.Ptr("＠ada")}, fault.InvalidInput},
		"empty name":            {bots.UpdateMeInput{DisplayName: graphtest.Ptr(" ")}, fault.InvalidInput},
		"long bio":              {bots.UpdateMeInput{Bio: graphtest.Ptr(strings.Repeat("x", 4001))}, fault.InvalidInput},
		"image not a UUID":      {bots.UpdateMeInput{AvatarAttachmentID: wire.Nullable[string]{Set: true, Value: "x"}}, fault.InvalidInput},
		"image without rights":  {bots.UpdateMeInput{AvatarAttachmentID: image}, fault.PublicationRightsRequired},
		"image rights false":    {bots.UpdateMeInput{CharacterAttachmentID: image, RightsConfirmed: graphtest.Ptr(false)}, fault.PublicationRightsRequired},
		"image of nobody":       {bots.UpdateMeInput{CharacterAttachmentID: image, RightsConfirmed: graphtest.Ptr(true)}, fault.InvalidAttachment},
		"image with other text": {bots.UpdateMeInput{Bio: graphtest.Ptr("new"), AvatarAttachmentID: image, RightsConfirmed: graphtest.Ptr(true)}, fault.InvalidAttachment},
	} {
		_, err := w.Bots.UpdateMe(agent.Ctx, c.in)
		require.Equal(t, c.want, fault.From(err).Code, name)
	}
	for _, in := range []bots.UpdateMeInput{{}, {RightsConfirmed: graphtest.Ptr(true)}} {
		_, err := w.Bots.UpdateMe(agent.Ctx, in)
		require.Empty(t, fault.From(err).Fields, "no field is to blame")
		require.Contains(t, fault.From(err).Text(), "changes nothing")
	}
	own := graphtest.Got(w.Bots.Me(agent.Ctx))(t)
	require.Empty(t, own.Bot.Bio, "a refused update changes nothing")
}
