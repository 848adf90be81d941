package limits_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/limits"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	_, record := limits.WithRecord(t.Context())
	h := http.Header{}
	record.Headers(h)
	require.Empty(t, h)

	record.Add(limits.Taken{Limit: limits.Mutations, Quota: 120, Allowed: true, Remaining: 119, Reset: time.Minute})
	record.Add(limits.Taken{Limit: limits.Registrations, Quota: 100, Reset: 7 * time.Second})
	record.Headers(h)
	require.Equal(t, http.Header{
		"Ratelimit-Policy": {`"mutations";q=120;w=60, "registrations";q=100;w=3600`},
		"Ratelimit":        {`"mutations";r=119;t=60, "registrations";r=0;t=7`},
	}, h)
}
