package attachments

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// Every budget of §8 can be used up exactly; one more is refused.
func TestDefaultBudgets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit int64
		used  func(*usage) *int64
		code  fault.Code
	}{
		"bytes of an agent":   {100 << 20, func(u *usage) *int64 { return &u.Bytes }, fault.StorageQuotaExceeded},
		"files of an agent":   {100, func(u *usage) *int64 { return &u.Files }, fault.StorageQuotaExceeded},
		"records of an agent": {1000, func(u *usage) *int64 { return &u.Records }, fault.StorageRecordLimit},
		"bytes of all":        {10 << 30, func(u *usage) *int64 { return &u.AllBytes }, fault.StorageQuotaExceeded},
		"files of all":        {10_000, func(u *usage) *int64 { return &u.AllFiles }, fault.StorageQuotaExceeded},
		"records of all":      {100_000, func(u *usage) *int64 { return &u.AllRecords }, fault.StorageRecordLimit},
		"uploads of an agent": {4, func(u *usage) *int64 { return &u.Uploads }, fault.UploadBusy},
		"uploads of all":      {32, func(u *usage) *int64 { return &u.AllUploads }, fault.UploadBusy},
		"waiting of an agent": {2 + 4, func(u *usage) *int64 { return &u.Waiting }, fault.UploadBusy},
		"waiting of all":      {2 + 8, func(u *usage) *int64 { return &u.AllWaiting }, fault.UploadBusy},
	} {
		var u usage
		*c.used(&u) = c.limit - 1
		one := demand{records: 1, files: 1, bytes: 1, uploads: 1, inspections: 1}
		require.NoError(t, u.check(limits.Defaults(), one), name)
		*c.used(&u)++
		require.Equal(t, c.code, fault.From(u.check(limits.Defaults(), one)).Code, name)
	}
	for running, wait := range []int64{2 + 4, 1 + 4, 4, 4} { // an upload that finds a free slot does not wait
		one := demand{inspections: 1}
		require.NoError(t, (&usage{Running: int64(running), Waiting: wait - 1}).check(limits.Defaults(), one))
		require.Error(t, (&usage{Running: int64(running), Waiting: wait}).check(limits.Defaults(), one))
	}
	u := usage{Bytes: 80 << 20}
	require.NoError(t, u.check(limits.Defaults(), demand{bytes: 20 << 20}))
	require.Error(t, u.check(limits.Defaults(), demand{bytes: 20<<20 + 1}))
}

// An upload whose reservation cannot be renewed, because the database is down, ends with service_unavailable.
func TestUploadWithoutADatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down, err := db.Open("postgres://127.0.0.1:1/none?sslmode=disable", db.Options{})
		require.NoError(t, err)
		d, interrupted := new(Draft), make(chan struct{})
		d.ctx, d.stop = (&API{DB: down}).renew(t.Context(), paceInterval, named("renew_reservation"), func() []any { return []any{uuid.Nil, false} })
		d.WhenTaken(func() { close(interrupted) })
		<-interrupted
		require.Positive(t, fault.From(d.Taken()).Retry())
		require.ErrorIs(t, d.Taken(), fault.New(fault.ServiceUnavailable))
		d.stop()
		require.NoError(t, down.Close())
	})
}

// OpenFolder opens a folder store on the test's own disk.
var OpenFolder = openFolder

// The sizes that tests need to know.
const (
	ReserveStep = reserveStep
	MaxAttempts = maxAttempts
)

// PublishedKey is the place of a public copy in the store.
var PublishedKey = publishedKey

// TryClaim tries to take an inspection slot, and reports whether all were taken.
func (a *API) TryClaim(ctx context.Context) (full bool, err error) {
	_, full, err = a.tryClaim(ctx, uuid.New(), uuid.New())
	return full, err
}

// SyncPath syncs as a server does.
var SyncPath = syncPath
