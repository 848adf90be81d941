package page_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

func TestID(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0190a5d4-7c1e-7000-8000-0123456789ab")
	for _, values := range [][]string{{id.String()}, {"0190A5D4-7C1E-7000-8000-0123456789AB"}} {
		read, err := page.ID("before", values)
		require.NoError(t, err)
		require.Equal(t, &id, read)
	}
	read, err := page.ID("before", nil)
	require.NoError(t, err)
	require.Nil(t, read)
	for _, s := range []string{"", "x", "{" + id.String() + "}", "urn:uuid:" + id.String(), "0190a5d47c1e700080000123456789ab"} {
		_, err := page.ID("peer", []string{s})
		requireFault(t, err, fault.InvalidID, "peer", "must be a UUID of 8-4-4-4-12 hexadecimal digits")
	}
	_, err = page.ID("before", []string{id.String(), id.String()})
	requireFault(t, err, fault.InvalidID, "before", "must be sent once")
}
