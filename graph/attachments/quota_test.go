package attachments

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// Every budget of §8 takes what just fits, and nothing more.
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
		"inspections":         {2 + 8, func(u *usage) *int64 { return &u.Pending }, fault.UploadBusy},
	} {
		var u usage
		*c.used(&u) = c.limit - 1
		one := demand{records: 1, files: 1, bytes: 1, uploads: 1, inspections: 1}
		require.NoError(t, u.check(limits.Defaults(), one), name)
		*c.used(&u)++
		require.Equal(t, c.code, fault.From(u.check(limits.Defaults(), one)).Code, name)
	}
	u := usage{Bytes: 80 << 20}
	require.NoError(t, u.check(limits.Defaults(), demand{bytes: 20 << 20}))
	require.Error(t, u.check(limits.Defaults(), demand{bytes: 20<<20 + 1}))
}
