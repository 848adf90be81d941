package services_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/services"
)

func TestServiceLifecycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, other := w.Agent(), w.Agent()
	made := w.Serviced(ada, "  Translation  ", "From French.\n\tTo Latin.  ")
	require.Equal(t, "Translation", made.Title, "trimmed")
	require.Equal(t, "From French.\n\tTo Latin.  ", made.Description, "as sent")
	require.Equal(t, ada.ID, made.Bot.ID)
	require.Equal(t, made.CreatedAt, made.UpdatedAt)
	seen := graphtest.Got(w.read(made.ID))(t).Service
	require.Equal(t, made, seen)

	w.Shift(time.Hour)
	changed := graphtest.Got(w.update(ada, made.ID, services.Fields{Title: ptr("Interpretation")}))(t).Service
	require.Equal(t, "Interpretation", changed.Title)
	require.Equal(t, made.Description, changed.Description)
	require.Equal(t, made.CreatedAt, changed.CreatedAt)
	require.WithinDuration(t, made.UpdatedAt.Add(time.Hour), changed.UpdatedAt, time.Minute)
	seen = graphtest.Got(w.read(made.ID))(t).Service
	require.Equal(t, changed, seen)

	graphtest.Refused(t, fault.NotFound)(w.update(other, made.ID, services.Fields{Title: ptr("Mine now")}))
	graphtest.RequireFault(t, w.remove(other, made.ID), fault.NotFound)
	require.NoError(t, w.remove(ada, made.ID))
	graphtest.RequireFault(t, w.remove(ada, made.ID), fault.NotFound)
	graphtest.Refused(t, fault.NotFound)(w.read(made.ID))
	graphtest.Refused(t, fault.NotFound)(w.update(ada, made.ID, services.Fields{Title: ptr("Back")}))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM services WHERE title = '' AND description = '' AND deleted_at IS NOT NULL"), "the record stays, without its texts")
}

// Concurrent requests do not exceed the limit. Hidden services count, deleted ones do not.
func TestServicesAreLimited(t *testing.T) {
	t.Parallel()
	const most = 3
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{Services: most}))
	ada := w.Agent()
	made := make([]*services.ServiceResult, 2*most)
	codes := graphtest.AtOnce(len(made), func(i int) (err error) {
		made[i], err = w.create(ada, "t", "d")
		return err
	})
	require.Equal(t, map[fault.Code]int{"": most, fault.StorageRecordLimit: most}, codes.Count())
	first := made[slices.IndexFunc(made, func(r *services.ServiceResult) bool { return r != nil })].Service.ID
	w.Exec("UPDATE bots SET profile_public = false WHERE id = $1", ada.ID)
	graphtest.Refused(t, fault.StorageRecordLimit)(w.create(ada, "t", "d"))
	graphtest.OK(t)(w.update(ada, first, services.Fields{Title: ptr("x")}))
	require.NoError(t, w.remove(ada, first))
	graphtest.OK(t)(w.create(ada, "t", "d"))
	graphtest.Refused(t, fault.StorageRecordLimit)(w.create(ada, "t", "d"))
}

func TestOwnServicesOfAClosedProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Agent()
	one, two := w.Serviced(ada, "one", "d"), w.Serviced(ada, "two", "d")
	w.Show(ada, false)
	third := w.Serviced(ada, "three", "d")
	changed := graphtest.Got(w.update(ada, one.ID, services.Fields{Description: ptr("changed")}))(t).Service
	require.Equal(t, "changed", changed.Description)
	require.NoError(t, w.remove(ada, two.ID))
	for _, id := range []uuid.UUID{one.ID, third.ID} {
		graphtest.Refused(t, fault.NotFound)(w.Services.Service(ada.Ctx, services.ServiceInput{ServiceID: id.String()}))
	}
	w.Show(ada, true)
	titles, _ := w.catalogue("", "", "")
	require.Equal(t, []string{"three", "one"}, titles)
}

func TestRemoveIsForAnyCallerThatMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.Serviced(w.Agent(), "t", "d")
	remove := func(id uuid.UUID) error {
		return w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error { return services.Remove(ctx, tx, id) })
	}
	graphtest.RequireFault(t, remove(uuid.New()), fault.NotFound)
	require.NoError(t, remove(made.ID))
	graphtest.RequireFault(t, remove(made.ID), fault.NotFound)
}
