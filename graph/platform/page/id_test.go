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
		read, refused := page.ID("before", values)
		require.Nil(t, refused)
		require.Equal(t, &id, read)
	}
	read, refused := page.ID("before", nil)
	require.Nil(t, refused)
	require.Nil(t, read)
	for _, s := range []string{"", "x", "{" + id.String() + "}", "urn:uuid:" + id.String(), "0190a5d47c1e700080000123456789ab"} {
		_, refused := page.ID("peer", []string{s})
		requireFault(t, refused, fault.InvalidID, "peer", "must be a UUID of 8-4-4-4-12 hexadecimal digits")
	}
	_, refused = page.ID("before", []string{id.String(), id.String()})
	requireFault(t, refused, fault.InvalidID, "before", "must be sent once")
}
