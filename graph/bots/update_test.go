package bots_test

import (
	"context"
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

func TestUpdateChangesSentFields(t *testing.T) {
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
		graphtest.Refused(t, c.want, name)(w.Bots.UpdateMe(agent.Ctx, c.in))
	}
	for _, in := range []bots.UpdateMeInput{{}, {RightsConfirmed: graphtest.Ptr(true)}} {
		_, err := w.Bots.UpdateMe(agent.Ctx, in)
		require.Empty(t, fault.From(err).Fields, "no field is to blame")
		require.Contains(t, fault.From(err).Text(), "changes nothing")
	}
	avatar := wire.Nullable[string]{Set: true, Value: w.File(agent, "avatar").String()}
	graphtest.RefusedField(t, fault.InvalidAttachment, "character_attachment_id", "which of two images")(w.Bots.UpdateMe(agent.Ctx,
		bots.UpdateMeInput{AvatarAttachmentID: avatar, CharacterAttachmentID: image, RightsConfirmed: graphtest.Ptr(true)}))
	require.Empty(t, graphtest.Got(w.Bots.Me(agent.Ctx))(t).Bot.Bio, "a refused update changes nothing")
}

// trash runs the sweep.
func trash(t *testing.T, w *graphtest.World) int64 {
	t.Helper()
	return graphtest.Got(w.Bots.Trash(context.Background()))(t)
}

func state(t *testing.T, w *graphtest.World, agent *graphtest.Agent) string {
	t.Helper()
	return graphtest.Got(w.DB.Ent.Bot.Get(context.Background(), agent.ID))(t).State.String()
}

func TestInactivityCountsFromTheActivation(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	idle := w.Agent()
	w.ShiftMonths(12, 0)
	require.Zero(t, trash(t, w))
	w.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	busy := w.Agent()
	w.ShiftMonths(3, -time.Hour)
	require.Zero(t, trash(t, w))
	require.NoError(t, w.Auth.NoteActivity(context.Background(), []uuid.UUID{busy.ID}))
	w.ShiftMonths(0, 2*time.Hour)
	require.Equal(t, int64(1), trash(t, w))
	require.Equal(t, "trash", state(t, w, idle))
	require.Equal(t, "active", state(t, w, busy))
	require.Zero(t, trash(t, w))
	require.Equal(t, int64(500_000), w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", idle.ID))
}

func TestObligationsHoldAnAgent(t *testing.T) {
	t.Parallel()
	for state, holds := range map[string]bool{
		"offered": false, "funded": true, "in_progress": true, "delivered": true, "disputed": true, "closed": false, "cancelled": false, "rejected": false,
		"no order, but reserved money": true,
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			w.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
			customer, contractor := w.Agent(), w.Agent()
			if state == "no order, but reserved money" {
				w.Exec("UPDATE accounts SET available_minor = available_minor - 1, reserved_minor = 1 WHERE bot_id IS NOT NULL")
			} else {
				w.Ordered(customer, contractor, state)
			}
			w.ShiftMonths(3, time.Hour)
			moved := int64(2)
			if holds {
				moved = 0
			}
			require.Equal(t, moved, trash(t, w))
		})
	}
}

// A sweep goes through all agents, however many batches that takes.
func TestManyAgentsMoveInBatches(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	w.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	w.Agent()
	for first := 1; first <= 2500; first += 250 {
		w.Exec(`INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), 'idle_' || n, 'Idle', decode(repeat('09', 32), 'hex'), stoa_now()
			FROM generate_series($1::integer, $1::integer + 249) n`, first)
	}
	w.ShiftMonths(4, 0)
	require.EqualValues(t, 2501, trash(t, w))
	require.Zero(t, w.Count("SELECT count(*) FROM bots WHERE state = 'active'"))
}

// A sweep does not wait for an agent whose row another transaction has locked; the next sweep examines it.
func TestAnAgentInUseIsSkipped(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	w.Exec("UPDATE settings SET lifecycle_activated_at = stoa_now()")
	busy, idle := w.Agent(), w.Agent()
	w.ShiftMonths(4, 0)
	holder := graphtest.Got(w.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	defer holder.Rollback()
	graphtest.OK(t)(holder.Exec("SELECT FROM bots WHERE id = $1 FOR UPDATE", busy.ID))
	require.EqualValues(t, 1, trash(t, w))
	require.Equal(t, "trash", state(t, w, idle))
	require.NoError(t, holder.Rollback())
	require.EqualValues(t, 1, trash(t, w))
}

// Months are calendar months: if a month has no such day, its last day counts.
func TestThreeCalendarMonths(t *testing.T) {
	t.Parallel()
	for last, due := range map[string]string{
		"2027-08-31 12:00:00+00": "2027-11-30 12:00:00+00",
		"2027-08-30 12:00:00+00": "2027-11-30 12:00:00+00",
		"2027-11-30 00:00:00+00": "2028-02-29 00:00:00+00",
		"2028-11-30 23:59:59+00": "2029-02-28 23:59:59+00",
		"2027-12-01 06:00:00+00": "2028-03-01 06:00:00+00",
		"2028-02-29 06:00:00+00": "2028-05-29 06:00:00+00",
	} {
		t.Run(last, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			agent := w.Agent()
			w.Exec("UPDATE settings SET lifecycle_activated_at = '2027-01-01'")
			w.Exec("UPDATE bots SET last_active_at = $2::timestamptz WHERE id = $1", agent.ID, last)
			end := graphtest.Got(time.Parse("2006-01-02 15:04:05Z07", due))(t)
			card := graphtest.Got(w.Onboarding.Onboarding(agent.Ctx))(t)
			require.True(t, end.Equal(*card.Lifecycle.TrashAfter), "%s", card.Lifecycle.TrashAfter)
			w.Shift(end.Sub(w.Now()) - 10*time.Second)
			require.Zero(t, trash(t, w))
			w.Shift(10 * time.Second)
			require.EqualValues(t, 1, trash(t, w))
		})
	}
}
