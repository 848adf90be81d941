package attachments

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// Every budget of §8 takes what just fits, and nothing more.
func TestFiguresOfBudgets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		figure int64
		used   func(*usage) *int64
		code   fault.Code
	}{
		"bytes of an agent":   {100 << 20, func(u *usage) *int64 { return &u.bytes }, fault.StorageQuotaExceeded},
		"files of an agent":   {100, func(u *usage) *int64 { return &u.files }, fault.StorageQuotaExceeded},
		"records of an agent": {1000, func(u *usage) *int64 { return &u.records }, fault.StorageRecordLimit},
		"bytes of all":        {10 << 30, func(u *usage) *int64 { return &u.allBytes }, fault.StorageQuotaExceeded},
		"files of all":        {10_000, func(u *usage) *int64 { return &u.allFiles }, fault.StorageQuotaExceeded},
		"records of all":      {100_000, func(u *usage) *int64 { return &u.allRecords }, fault.StorageRecordLimit},
		"uploads of an agent": {4, func(u *usage) *int64 { return &u.uploads }, fault.UploadBusy},
		"uploads of all":      {32, func(u *usage) *int64 { return &u.allUploads }, fault.UploadBusy},
		"inspections":         {2 + 8, func(u *usage) *int64 { return &u.pending }, fault.UploadBusy},
	} {
		var u usage
		*c.used(&u) = c.figure - 1
		one := demand{records: 1, files: 1, bytes: 1, uploads: 1, inspections: 1}
		require.NoError(t, u.refuse(limits.Defaults(), one), name)
		*c.used(&u)++
		require.Equal(t, c.code, fault.From(u.refuse(limits.Defaults(), one)).Code, name)
	}
	u := usage{bytes: 80 << 20}
	require.NoError(t, u.refuse(limits.Defaults(), demand{bytes: 20 << 20}))
	require.Error(t, u.refuse(limits.Defaults(), demand{bytes: 20<<20 + 1}))
}
